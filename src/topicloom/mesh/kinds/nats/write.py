"""NATS: one configuration per node; links are leaf node connections, one for each account they carry.

Servers refuse a cycle of leaf nodes within an account. The topics are packed into classes whose trees
together are a forest, and each class is an account; clients log in to the account of their topic.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from topicloom.mesh.kinds.nats.hashes import CLIENT_ROUNDS, LINK_ROUNDS, nats_hash
from topicloom.mesh.model.config_files import LOOPBACK, address
from topicloom.mesh.model.directions import IN, OUT
from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.filters import FilterRule
from topicloom.mesh.plan.hosts import bind_host, is_loopback
from topicloom.mesh.plan.link_plan import plan_forests
from topicloom.mesh.plan.mesh_plan import MeshLayout, MeshPlan, MeshShape, write_planned
from topicloom.mesh.plan.names import NameRule
from topicloom.mesh.plan.request import ExportFigures, Request

# Wildcards; tokens between dots may not be empty; $ and the two prefixes belong to the server.
NAMES = NameRule(
    "nats",
    r"[*>]|^\$|^\.|(?<=\.)\.|\.\Z|^_(?=G?R_\.)",
    3_840,
    "with its reply it must fit into a control line of NATS, 4,096 bytes",
    filters=FilterRule(".", "*", ">", rest_last=True, rest_none=False),
)
SHAPE = MeshShape(NAMES, (("client", 4222), ("leaf", 7422), ("monitor", 8222)), ".conf")
# Of every account when no credentials are given: for loopback and trying out; the files say so.
DEFAULT_PASSWORD = "topicloom"
# A peer that does not answer so many pings is given up with the next one: after 8 seconds at the latest.
PING_SECONDS, PINGS = 2, 2
CLIENTS, LEAFS = "[STANDARD, WEBSOCKET]", "[LEAFNODE]"  # kinds of connections
SPREAD = 3  # seconds at most until a server dials again


def export_nats(request: Request, folder: Path) -> ExportFigures:
    """Fill the folder; return the figures of the mesh."""
    return write_planned(request, folder, LAYOUT)


def render(plan: MeshPlan, request: Request) -> tuple[dict[str, str], list[str]]:
    """Return the files by name, and the names of those with secrets."""
    configs = {node.configs[0]: _config(plan, request, node.name) for node in plan.mesh.nodes}
    return configs, list(configs) if request.logins else []


def login_of(request: Request, node: str, account: str) -> Login:
    """Return how a node's clients and links log in to an account: a user belongs to one account only."""
    if not request.logins:
        return Login(account, DEFAULT_PASSWORD)
    login = request.logins[node]
    return Login(f"{login.user}.{account}", login.password)


def _config(plan: MeshPlan, request: Request, name: str) -> str:
    node = plan.node[name]
    bind = {purpose: address(bind_host(node.host), port) for purpose, port in node.ports.items()}
    monitor = address(node.host if is_loopback(node.host) else LOOPBACK, node.ports["monitor"])
    lines = [f"server_name: {_text(plan.stems[name])}", f'listen: "{bind["client"]}"']
    lines += ["# Statistics tell strangers much: this machine only.", f'http: "{monitor}"']
    if request.tls is not None:
        lines += [f"tls: {_tls(plan, request, name)}"]
    if not request.logins:
        lines += ["# The password is the same everywhere: for one machine and for trying out only."]
    lines += [f'ping_interval: "{PING_SECONDS}s"', f"ping_max: {PINGS}"]
    lines += ["accounts: {", *(_account(plan, request, name, account) for account in plan.wanted[name]), "}"]
    lines += ["leafnodes: {", f'  listen: "{bind["leaf"]}"', f"  reconnect: {_patience(name)}"]
    if request.tls is not None:
        lines += [f"  tls: {_tls(plan, request, name, verify=True)}"]
    links = plan.dialled[name]
    if links:
        lines += ["  remotes: [", *(_remote(plan, request, link) for link in links), "  ]"]
    return plan.heading("NATS configuration", name, "#") + "\n".join([*lines, "}"]) + "\n"


def _patience(name: str) -> int:
    """Return the seconds until this server dials again.

    NATS waits for the same time always and adds nothing random. So that not all servers dial at the same
    moment, they wait for different times.
    """
    return 1 + zlib.crc32(name.encode()) % SPREAD


def _account(plan: MeshPlan, request: Request, name: str, account: str) -> str:
    login = login_of(request, name, account)
    if not request.logins:
        return f"  {account}: {{users: [{{user: {_text(login.user)}, password: {_text(login.password)}}}]}}"
    site = request.logins[name]
    topics = [one for one in plan.topics_of[name] if one.account == account]
    hashed = nats_hash(site.user, site.password, CLIENT_ROUNDS)
    sent = [one.name for one in topics if name in one.senders]
    heard = [one.name for one in topics if name in one.hearers]
    users = [_user(login, hashed, CLIENTS, sent, heard)]
    for link in plan.accepted[name]:
        if link.account == account:
            made = Login(link.name, request.secret_of(link.name))
            hashed = nats_hash(made.user, made.password, LINK_ROUNDS)
            # What goes out of the dialer is published here.
            users.append(_user(made, hashed, LEAFS, plan.carried(link, IN), plan.carried(link, OUT)))
    return "\n".join([f"  {account}: {{users: [", *(f"    {user}" for user in users), "  ]}"])


def _user(login: Login, hashed: str, kinds: str, sent: Sequence[str], heard: Sequence[str]) -> str:
    """Return a user who may log in by these kinds of connections, for these subjects only."""
    return (
        f"{{user: {_text(login.user)}, password: {_text(hashed)}, allowed_connection_types: {kinds}, "
        f"permissions: {{publish: {_allowed(sent)}, subscribe: {_allowed(heard)}}}}}"
    )


def _allowed(names: Sequence[str]) -> str:
    """Return a list of subjects; an empty one would allow all."""
    return f"[{', '.join(map(_text, names))}]" if names else '{deny: [">"]}'


def _remote(plan: MeshPlan, request: Request, link: MeshLink) -> str:
    account = link.account or ""
    login = login_of(request, link.dialer, account)
    if request.logins:
        login = Login(link.name, request.secret_of(link.name))
    scheme = "nats-leaf" if request.tls is None else "tls"
    who = f"{quote(login.user, safe='')}:{quote(login.password, safe='')}"
    ends = [plan.node[end] for end in (link.acceptor, *link.backups)]
    urls = [_text(f"{scheme}://{who}@{address(end.host, end.ports['leaf'])}") for end in ends]
    parts = [f"urls: [{', '.join(urls)}], no_randomize: true" if link.backups else f"url: {urls[0]}"]
    parts += [f"account: {account}"]
    if request.logins:
        parts += _denied(plan, link)
    if request.tls is not None:
        files = request.certificates(plan.stems[link.dialer])
        own = f", cert_file: {_text(files.certificate)}, key_file: {_text(files.key)}"
        parts += [f"tls: {{ca_file: {_text(files.authority)}{own}}}"]
    return f"    {{{', '.join(parts)}}} # {link.name}"


def _denied(plan: MeshPlan, link: MeshLink) -> Iterator[str]:
    """Yield what the server that is dialled must not get from here, nor send: it is not asked to say so.

    Whoever took it over could ask for everything in the account. Remotes know lists of what is denied only;
    no other subjects than those of the node's own topics are ever in its account.
    """
    own = [one.name for one in plan.topics_of[link.dialer] if one.account == link.account]
    for what, unless in (("deny_exports", IN), ("deny_imports", OUT)):
        carried = set(plan.carried(link, unless))
        denied = [name for name in own if name not in carried]
        if denied:
            yield f"{what}: [{', '.join(map(_text, denied))}]"


def _tls(plan: MeshPlan, request: Request, name: str, *, verify: bool = False) -> str:
    assert request.tls is not None
    files = request.certificates(plan.stems[name])
    return (
        f"{{cert_file: {_text(files.certificate)}, key_file: {_text(files.key)}, "
        f"ca_file: {_text(files.authority)}{', verify: true' if verify else ''}}}"
    )


def _text(value: str) -> str:
    """Quote a string of the configuration language."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


LAYOUT = MeshLayout(
    lambda request: SHAPE, plan_forests, render, f"all accounts have the password {DEFAULT_PASSWORD!r}"
)
