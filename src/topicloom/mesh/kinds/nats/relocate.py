"""Moving NATS configurations to loopback: parsed, changed, written as JSON; see run/relocate.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from topicloom.mesh.kinds.nats.config_language import ESCAPES, ConfigValue
from topicloom.mesh.kinds.nats.read import (
    LEAFNODES,
    MONITORS,
    LeafRemote,
    NatsConf,
    read_nats,
    split_url,
    text_of,
)
from topicloom.mesh.model.config_files import LOOPBACK, Location
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode
from topicloom.mesh.run.relocate import PortMap, Relocated, absolute_path, find_link, number_repeats

PATHS = frozenset({"ca_file", "cert_file", "key_file", "credentials", "creds"})
KNOWN = frozenset({"listen", "port", "host", "net", *MONITORS})
ADVERTISED = frozenset({"advertise", "client_advertise"})
NOT_HERE = frozenset({  # files, or services of the machine, that the server would write to, or open
    "log_file", "logfile", "pid_file", "pidfile", "ports_file_dir", "prof_port", "remote_syslog", "syslog",
})  # fmt: skip
DOORS = frozenset({"gateway", "mqtt", "websocket"})  # blocks with a listener of their own
STORE = ("store_dir", "storedir", "store")
PASSWORDS = frozenset({"password", "pass", "token"})
PURPOSES = ("client", "leaf", "monitor")
_ESCAPED = {value: f"\\{key}" for key, value in ESCAPES.items()}


def relocate_nats(folder: Path, mesh: Mesh, ports: PortMap) -> Relocated:
    """Put every port on 127.0.0.1, and lead every remote to where its server listens now."""
    configs: dict[str, str] = {}
    links: list[MeshLink] = []
    secrets: set[str] = set()
    for node in mesh.nodes:
        for name in node.configs:
            conf = read_nats(folder / name, shown=name)
            links += [_link(remote, node, mesh, ports) for remote in conf.remotes]
            _check_ports(conf, node)
            secrets.update(_secrets(conf))
            _move_ports(conf, node, ports)
            for remote in conf.remotes:
                _move_remote(remote, node, ports)
            _keep_inside(conf.root, folder / f"{name}.kept")
            for key, value in conf.root.walk():
                if key.lower() in PATHS and isinstance(value.data, str):
                    path = absolute_path(value.data, value.where, folder / name, folder, value.hidden)
                    value.put(path)
            configs[name] = render_nats(conf.root, KNOWN) + "\n"
    return Relocated(ports.move(mesh, number_repeats(links)), configs, frozenset(secrets))


def _secrets(conf: NatsConf) -> Iterator[str]:
    """Yield passwords, and what came from the environment."""
    for key, value in conf.root.walk():
        if value.secret is not None or key.lower() in PASSWORDS:
            yield str(value.data)
    yield from (url.password for remote in conf.remotes for url in remote.urls if url.password)


def _keep_inside(config: ConfigValue, kept: Path) -> None:
    """Let the server write nowhere but in the folder of the run."""
    if not isinstance(config.data, dict):
        return
    for key in [key for key in config.data if key.lower() in NOT_HERE]:
        del config.data[key]
    for key, entry in list(config.data.items()):
        name, inner, inside = key.lower(), entry.data, ConfigValue(str(kept), entry.where)
        if name in DOORS:
            raise entry.where.fault(f"{key} opens the server to others than links; remove this block")
        if name == "resolver" and str(inner).upper().startswith("URL"):
            raise entry.where.fault("the accounts would be asked for on another machine; remove this line")
        if name == "resolver" and isinstance(inner, dict):
            inner["dir"] = inside
        elif name == "jetstream" and not isinstance(inner, dict):
            # Alone it is a switch; where it stores is said beside it, else it is a folder of the machine.
            config.data.setdefault("store_dir", inside)
        elif name == "jetstream" and isinstance(inner, dict) and entry.get(*STORE) is None:
            inner["store_dir"] = inside
        store = entry.get(*STORE) if isinstance(entry.data, dict) else None
        if store is not None:
            store.put(str(kept))
    store = config.get(*STORE[:2])
    if store is not None:
        store.put(str(kept))


def _link(remote: LeafRemote, node: MeshNode, mesh: Mesh, ports: PortMap) -> MeshLink:
    ends = [ports.behind(url.address, "leaf").node for url in remote.urls]
    link = find_link(mesh, node.name, ends[0], remote.account)
    return replace(link, backups=tuple(ends[1:]))


def _check_ports(conf: NatsConf, node: MeshNode) -> None:
    """Refuse a server whose ports are not where the manifest says."""
    for purpose in PURPOSES:
        said = conf.port(purpose)
        if purpose in node.ports and (said is None or said.port != node.ports[purpose]):
            where = said.where if said else Location(conf.file, 1)
            raise where.fault(
                f"{node.name} has {'another' if said else 'no'} {purpose} port, but manifest.json says "
                f"{node.ports[purpose]}; correct one of them"
            )


def _move_ports(conf: NatsConf, node: MeshNode, ports: PortMap) -> None:
    config, leaf, cluster = conf.root, conf.root.get(*LEAFNODES), conf.root.get("cluster")
    if cluster is not None:
        raise cluster.where.fault("cluster routes join servers in another way than links; remove this block")
    for block, purpose in ((config, "client"), (leaf, "leaf")):
        if block is None or not isinstance(block.data, dict):
            continue
        found = conf.port(purpose)
        gone = ADVERTISED | {"host", "net", "port"} if found is not None else ADVERTISED
        for key in [key for key in block.data if key.lower() in gone]:
            del block.data[key]
        if found is not None:
            listen = block.get("listen")
            if listen is None:
                listen = block.data["listen"] = ConfigValue("", found.where)
            listen.put(f"{LOOPBACK}:{ports.new_port(node, found.port)}")
    for key in MONITORS:
        monitor, port = config.get(key), conf.port("monitor")
        if monitor is not None and port is not None:
            number = ports.new_port(node, port.port)
            monitor.put(f"{LOOPBACK}:{number}" if key in ("http", "https") else number)


def _move_remote(remote: LeafRemote, node: MeshNode, ports: PortMap) -> None:
    strange = ports.has_detours
    for url in remote.urls:
        strange = strange or url.address.host != LOOPBACK
        text = text_of(url.value) or ""
        parts = split_url(text, url.value.where)
        login, at, _ = parts.netloc.rpartition("@")
        netloc = f"{login}{at}{ports.dialled(node.name, ports.behind(url.address, 'leaf'))}"
        url.value.put(parts._replace(netloc=netloc).geturl())
    tls = remote.value.get("tls")
    if tls is not None and isinstance(tls.data, dict) and strange:
        # The certificate names the node's host. NATS can only leave out the whole check of it.
        tls.data["insecure"] = ConfigValue(True, tls.where)


def render_nats(config: ConfigValue, known: frozenset[str] = frozenset()) -> str:
    """Write a configuration as JSON that NATS reads: its escapes are fewer than those of JSON.

    A name that only served as a variable, and does so no longer, is left out: the server would refuse it as
    unknown. `known` are names that are options all the same.
    """
    defined: dict[int, bool] = {}
    _count_uses(config, defined)
    return _rendered(config, "", {key for key, used in defined.items() if not used}, known)


def _count_uses(value: ConfigValue, defined: dict[int, bool]) -> None:
    for origin in value.origins:
        defined.setdefault(id(origin), False)
    if value.variable is not None:
        defined[id(value.variable[1])] = True
    elif isinstance(value.data, (dict, list)):
        for entry in value.data.values() if isinstance(value.data, dict) else value.data:
            _count_uses(entry, defined)


def _rendered(value: ConfigValue, indent: str, unused: set[int], known: frozenset[str]) -> str:
    data, deeper = value.data, indent + "  "
    if value.variable is not None:
        return f"${value.variable[0]}"
    if isinstance(data, dict):
        kept = {key: entry for key, entry in data.items() if id(entry) not in unused or key.lower() in known}
        lines = [
            f"{deeper}{_name(key)}: {_rendered(entry, deeper, unused, known)}" for key, entry in kept.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
    if isinstance(data, list):
        lines = [f"{deeper}{_rendered(entry, deeper, unused, known)}" for entry in data]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]" if lines else "[]"
    if isinstance(data, bool):
        return "true" if data else "false"
    return _quoted(data) if isinstance(data, str) else str(data)


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPED.get(c) or (f"\\x{ord(c):02x}" if ord(c) < 32 else c) for c in text) + '"'


def _name(key: str) -> str:
    """Quote the name of an entry, in which the server knows no escapes."""
    quote = "'" if '"' in key else '"'
    return f"{quote}{key}{quote}"
