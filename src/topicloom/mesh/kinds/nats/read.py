"""What a NATS server's configuration says about links: where it listens, its accounts, its leaf node remotes.

Defaults as in the server's documentation: clients 4222, leaf nodes 7422, and the account $G where none is
named. The parsed configuration is kept, so that relocating changes it in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from topicloom.mesh.kinds.nats.config_language import ConfigValue, parse_nats
from topicloom.mesh.model.config_files import Address, Location, parse_address, parse_port, refuse_misspelt

CLIENT_PORT, LEAF_PORT, CLUSTER_PORT = 4222, 7422, 6222
GLOBAL = "$G"
LEAFNODES = ("leafnodes", "leaf")
LEAF_OPTIONS = ("remotes", "listen", "port", "host", "net", "authorization")
REMOTE_OPTIONS = ("url", "urls", "account", "local", "credentials", "hub", "no_randomize")
MONITORS = ("http", "http_port", "monitor_port", "https", "https_port")
# Options by which accounts are kept elsewhere, signed by an operator.
OPERATOR = ("operator", "operators", "trusted", "trusted_keys", "resolver", "account_resolver")


@dataclass(frozen=True, slots=True)
class ListenPort:
    """A port the server listens on; `host` is None for all addresses of the machine."""

    purpose: str
    host: str | None
    port: int
    where: Location


@dataclass(frozen=True, slots=True)
class LeafUrl:
    """One url of a remote: where to, and who the dialer says it is (None: it does not say)."""

    address: Address
    user: str | None
    password: str | None
    value: ConfigValue


@dataclass(frozen=True, slots=True)
class LeafRemote:
    """One leaf node remote: its urls, first the one it prefers."""

    urls: tuple[LeafUrl, ...]
    account: str
    other_login: bool  # by credentials or nkey: the acceptor's account cannot be read from the files
    denies: bool
    as_hub: bool  # the dialer passes messages on as if it had been dialled
    value: ConfigValue
    where: Location


@dataclass(frozen=True, slots=True)
class NatsConf:
    """One server's configuration; `users` gives the account of each user that a leaf node may log in as."""

    file: str
    root: ConfigValue
    name: str | None
    ports: tuple[ListenPort, ...]
    cluster: str | None
    routes: tuple[Address, ...]
    accounts: Mapping[str, Location]
    users: Mapping[str, tuple[str, str | None]]  # none: it may log in without saying who it is
    leaf_account: str | None
    remotes: tuple[LeafRemote, ...]

    @property
    def files(self) -> set[str]:
        """Return this file and all that it includes."""
        return {self.file, *(value.where.file for _, value in self.root.walk())}

    def port(self, purpose: str) -> ListenPort | None:
        """Return the port of this purpose, if it listens for that."""
        return next((port for port in self.ports if port.purpose == purpose), None)


def read_nats(
    path: Path, *, shown: str | None = None, environment: Mapping[str, str] | None = None
) -> NatsConf:
    """Read one server's configuration; `shown` is what messages call it, the path by default."""
    shown = shown or str(path)
    config = parse_nats(path, shown, environment)
    check_words(config)
    leaf = config.get(*LEAFNODES)
    cluster = config.get("cluster")
    accounts = dict(_accounts(config))
    users = dict(users_of(config, leaf))
    named = None if config.get(*OPERATOR) else accounts
    authorization = leaf.get("authorization") if leaf else None
    return NatsConf(
        shown,
        config,
        text_of(config.get("server_name")),
        tuple(_ports(config, leaf, cluster)),
        (text_of(cluster.get("name")) or "default") if cluster else None,
        tuple(_url(route, CLUSTER_PORT).address for route in listed(cluster, "routes")),
        accounts,
        users,
        text_of(authorization.get("account")) if authorization else None,
        tuple(_remote(remote, named) for remote in listed(leaf, "remotes")),
    )


def check_words(config: ConfigValue) -> None:
    """Refuse what is nearly a word that makes a link: the link would be overlooked.

    The server itself refuses every word that it does not know.
    """
    for word, block in _words(config):
        refuse_misspelt(word, LEAFNODES, block.where)
        if word in LEAFNODES:
            for inner, value in _words(block):
                refuse_misspelt(inner, LEAF_OPTIONS, value.where)
            for remote in listed(block, "remotes"):
                for inner, value in _words(remote):
                    refuse_misspelt(inner, REMOTE_OPTIONS, value.where)


def _words(block: ConfigValue) -> list[tuple[str, ConfigValue]]:
    entries = block.data if isinstance(block.data, dict) else {}
    return [(word.lower(), value) for word, value in entries.items()]


def text_of(value: ConfigValue | None) -> str | None:
    """Return a text; a number written bare is one too."""
    if value is None:
        return None
    if isinstance(value.data, (dict, list)) or value.data is None:
        raise value.where.fault("a text is expected here, not a block or a list")
    return str(value.data)


def listed(block: ConfigValue | None, name: str) -> list[ConfigValue]:
    """Return the entries of the list with this name; none where there is no such list."""
    found = block.get(name) if block else None
    return found.entries() if found else []


def _ports(
    config: ConfigValue, leaf: ConfigValue | None, cluster: ConfigValue | None
) -> Iterator[ListenPort]:
    client = _port(config, "client", CLIENT_PORT)
    yield client or ListenPort("client", None, CLIENT_PORT, Location(config.where.file, 1))
    for block, purpose in ((leaf, "leaf"), (cluster, "cluster")):
        found = _port(block, purpose, 0) if block else None
        if found is not None and found.port:
            yield found
    for name in MONITORS:
        value = config.get(name)
        if value is not None:
            bare = ":" not in (text_of(value) or "")
            host, port = (text_of(config.get("host", "net")), int_of(value)) if bare else _listen(value)
            yield ListenPort("monitor", host, port, value.where)


def _port(block: ConfigValue, purpose: str, default: int) -> ListenPort | None:
    """Read `listen`, or `host` and `port`; None where neither is said."""
    listen = block.get("listen")
    if listen is not None:
        return ListenPort(purpose, *_listen(listen), listen.where)
    host, port = block.get("host", "net"), block.get("port")
    if host is None and port is None:
        return None
    number = int_of(port) if port is not None else default
    return ListenPort(purpose, text_of(host), number, (port or host or block).where)


def _listen(value: ConfigValue) -> tuple[str | None, int]:
    """Read HOST:PORT, :PORT or PORT."""
    if isinstance(value.data, int):
        return None, int_of(value)
    text = text_of(value) or ""
    if text.startswith(":"):
        return None, parse_port(text[1:], value.where, value.hidden)
    if ":" not in text:
        raise value.where.fault(f"{value.shown} has no port; write HOST:PORT")
    address = parse_address(text, 0, value.where, shown=value.hidden)
    return address.host, address.port


def int_of(value: ConfigValue) -> int:
    """Read a port number; -1 stands for any free one."""
    if value.data == -1:
        return -1
    return parse_port(str(value.data), value.where, value.hidden)


def _accounts(config: ConfigValue) -> Iterator[tuple[str, Location]]:
    block = config.get("accounts")
    if block is not None and isinstance(block.data, dict):
        yield from ((name, account.where) for name, account in block.data.items())
    else:
        yield from ((text_of(entry) or "", entry.where) for entry in listed(config, "accounts"))


def users_of(
    config: ConfigValue, leaf: ConfigValue | None = None
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Yield (user, (account, password)) of everyone who may log in, of leaf nodes if `leaf` is their block.

    Users in the block `leafnodes { authorization }` replace those of accounts, as in the server.
    """
    own = leaf.get("authorization") if leaf else None
    alone = own is not None and (own.get("user", "username") or own.get("users"))
    block = own if alone else config.get("authorization")
    if block is not None:
        yield from _login(block, (alone and text_of(block.get("account"))) or GLOBAL)
        for user in listed(block, "users"):
            yield from _login(user, text_of(user.get("account")) or GLOBAL)
    accounts = config.get("accounts")
    if accounts is not None and isinstance(accounts.data, dict) and not alone:
        for name, account in accounts.data.items():
            for user in listed(account, "users"):
                yield from _login(user, name)


def _login(block: ConfigValue, account: str) -> Iterator[tuple[str, tuple[str, str | None]]]:
    user = block.get("user", "username", "nkey")
    if user is not None:
        yield text_of(user) or "", (account, text_of(block.get("password", "pass")))


def _remote(value: ConfigValue, accounts: Mapping[str, Location] | None) -> LeafRemote:
    """Read one remote; `accounts` are those that it may be for, None if the file does not say."""
    # remotes: ["nats-leaf://..."] is short for blocks with one url
    texts = [value] if isinstance(value.data, str) else [*listed(value, "url"), *listed(value, "urls")]
    if not texts:
        raise value.where.fault("this remote has no url; add url: nats-leaf://HOST:PORT")
    named = value.get("account", "local")
    account = text_of(named) or GLOBAL
    if named is not None and accounts is not None and account not in (*accounts, GLOBAL):
        raise named.where.fault(f"account {named.shown} is not among this server's accounts; add it")
    hub = value.get("hub")
    return LeafRemote(
        tuple(_url(text, LEAF_PORT) for text in texts),
        account,
        value.get("credentials", "creds", "nkey", "seed") is not None,
        value.get("deny_imports", "deny_import", "deny_exports", "deny_export") is not None,
        hub is not None and hub.data is True,
        value,
        value.where,
    )


def _url(value: ConfigValue, default_port: int) -> LeafUrl:
    text = text_of(value) or ""
    parts = split_url(text, value.where)
    host = parts.hostname or ""
    address = Address(host.lower(), parts.port or default_port, value.where, value.hidden)
    user = unquote(parts.username) if parts.username is not None else None
    return LeafUrl(address, user, unquote(parts.password) if parts.password is not None else None, value)


def split_url(text: str, where: Location) -> SplitResult:
    """Split a url; refuse one without scheme, host or a legal port."""
    try:
        parts = urlsplit(text)
        if parts.scheme and parts.hostname and (parts.port is None or parts.port > 0):
            return parts
    except ValueError:
        pass
    # It may hold a password: it is not repeated.
    raise where.fault("this is no url; write it as nats-leaf://HOST:PORT")
