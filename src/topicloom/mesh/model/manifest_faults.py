"""What may be wrong with a manifest that somebody edited, or made: the first thing, by field.

What a roll-out writes again into configurations must hold nothing there but itself: a name with a line break
would be an option of its own, and could load a library at whoever copies the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from topicloom.mesh.model.mesh import Mesh

MANIFEST = "manifest.json"
SECRETS = "secrets.json"
PORTS = {"mosquitto": ("mqtt",), "nats": ("client", "leaf", "monitor")}  # what each node has
ACCOUNTS = "zenoh"  # has a router, and a port, for each account of a node

_FILE = re.compile(r"[\w .,+=@~()-]{1,200}")
_LINK = re.compile(r"[\w .,+=@~()-]{1,600}")
_HOST = re.compile(r"[A-Za-z0-9_.:%-]{1,300}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NO_NAME = re.compile(r"[\x00-\x20\x7f]")  # never stands in a name of a topic: it is escaped
_QUOTE = '"'  # nor that where files have no quotes around names
BARE = "mosquitto"
_OPTIONS = {"durable": re.compile(r"[1-9][0-9]{0,8}"), "wildcards": re.compile("filters|literal")}


def fault_of(mesh: Mesh) -> str | None:
    """Return the first thing in a manifest that does not fit the rest of it, or no configuration."""
    nodes = {node.name for node in mesh.nodes}
    for field, values in (
        ("nodes", [node.name for node in mesh.nodes]),
        ("links", [link.name for link in mesh.links]),
        ("topics", [topic.topic for topic in mesh.topics]),
        ("topics (name)", [topic.name for topic in mesh.topics]),
        ("nodes (configs)", [name for node in mesh.nodes for name in node.configs]),
    ):
        twice = next((value for value, count in Counter(values).items() if count > 1), None)
        if twice is not None:
            return f"{field} has {twice!r} twice"
    if len(mesh.start_order) != len(nodes) or set(mesh.start_order) != nodes:
        return "start_order is not an order of all nodes"
    return next((fault for find in (_nodes, _texts, _misfits) for fault in find(mesh)), None)


def _nodes(mesh: Mesh) -> Iterator[str]:
    """Yield what is wrong with the files and ports of nodes."""
    wanted: dict[str, set[str]] = {node.name: set(PORTS.get(mesh.kind, ())) for node in mesh.nodes}
    if any("link" in node.ports for node in mesh.nodes):
        wanted = {node: {*own, "link"} for node, own in wanted.items()}
    for topic in mesh.topics if mesh.kind == ACCOUNTS else ():
        for name in topic.subscribers:
            wanted.setdefault(name, set()).update([topic.account] if topic.account else [])
    for node in mesh.nodes:
        if not node.configs and (node.ports or wanted[node.name]):
            yield f"nodes: {node.name!r} has no configs"
        for name in node.configs:
            if name in (".", "..", MANIFEST, SECRETS) or not _FILE.fullmatch(name):
                yield f"nodes: configs has {name!r}, which is no name of a configuration file"
        if not all(1 <= port <= 65535 for port in node.ports.values()):
            yield f"nodes: a port of {node.name!r} is not from 1 to 65535"
        for purpose in sorted(wanted[node.name] - node.ports.keys()):
            yield f"nodes: ports of {node.name!r} has no {purpose!r}"


def _texts(mesh: Mesh) -> Iterator[str]:
    """Yield texts that would be more than themselves in a configuration."""
    for node in mesh.nodes:
        if not _HOST.fullmatch(node.host):
            yield f"nodes: {node.name!r} has host {node.host!r}, which is no host"
        if node.user is not None and (_CONTROL.search(node.user) or not node.user):
            yield f"nodes: {node.name!r} has user {node.user!r}, which is no user"
    for link in mesh.links:
        if not _LINK.fullmatch(link.name):
            yield f"links: {link.name!r} is no name of a link"
    for account in mesh.accounts:
        if not _LINK.fullmatch(account):
            yield f"accounts: {account!r} is no name of an account"
    for topic in mesh.topics if mesh.kind in (*PORTS, ACCOUNTS) else ():  # GossipSub takes any text
        for name in (topic.name, topic.example or topic.name):
            if _NO_NAME.search(name) or not name or (mesh.kind == BARE and _QUOTE in name):
                yield f"topics: {topic.topic!r} has name {name!r}, which no broker takes"
    for key, value in mesh.options.items():
        if _CONTROL.search(value) or (key in _OPTIONS and not _OPTIONS[key].fullmatch(value)):
            yield f"options: {key!r} is {value!r}, which no export writes"


def _misfits(mesh: Mesh) -> Iterator[str]:
    """Yield the links and topics that name what the mesh does not have."""
    nodes, topics = {node.name for node in mesh.nodes}, {topic.topic: topic.account for topic in mesh.topics}
    accounts = {None, *mesh.accounts}
    for topic in mesh.topics:
        if topic.account not in accounts:
            yield f"topics: {topic.topic!r} has account {topic.account!r}, which is not among the accounts"
    for link in mesh.links:
        for end in (link.dialer, link.acceptor, *link.backups):
            if end not in nodes:
                yield f"links: {link.name!r} names {end!r}, which is not among the nodes"
        if link.dialer in (link.acceptor, *link.backups):
            yield f"links: {link.name!r} dials its own end"
        if link.account not in accounts or (mesh.accounts and link.account is None):
            yield f"links: {link.name!r} has account {link.account!r}, which is not among the accounts"
        for name in link.topics:
            if name not in topics:
                yield f"links: {link.name!r} carries {name!r}, which is not among the topics"
            elif topics[name] != link.account:
                yield f"links: {link.name!r} carries {name!r}, a topic of another account"
    for topic in mesh.topics:
        for node in topic.subscribers:
            if node not in nodes:
                yield f"topics: subscriber {node!r} of {topic.topic!r} is not among the nodes"
        for node in {*topic.senders, *topic.hearers} - set(topic.subscribers):
            yield f"topics: {node!r} has a role in {topic.topic!r} but is no subscriber of it"
