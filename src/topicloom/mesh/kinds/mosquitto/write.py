"""Mosquitto: one configuration per node, a bridge per link at its dialling end, a spanning tree per topic.

The same link configured at both ends would carry every message twice, and a topic on a cycle of bridges goes
round for ever; with a tree for each topic the links together may well have cycles.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from topicloom.base.counts import counted
from topicloom.mesh.model.directions import BOTH, IN, OUT
from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.filters import FilterRule
from topicloom.mesh.plan.hosts import is_loopback
from topicloom.mesh.plan.link_plan import plan_trees
from topicloom.mesh.plan.mesh_plan import MeshLayout, MeshPlan, MeshShape, write_planned
from topicloom.mesh.plan.names import NameRule
from topicloom.mesh.plan.request import ExportFigures, Request
from topicloom.mesh.plan.roles import roles_of

# Wildcards; $ begins the broker's own topics; quotes mean something in mosquitto.conf.
NAMES = NameRule(
    "mosquitto",
    r'[#+"]|^\$',
    65_535,
    "MQTT names have at most 65,535 bytes",
    most_slashes=200,  # Mosquitto refuses topics of more (TOPIC_HIERARCHY_LIMIT)
    filters=FilterRule("/", "+", "#", rest_last=True, rest_none=True),
)
SHAPE = MeshShape(NAMES, (("mqtt", 1883),), ".conf")
PORTS, TLS_PORTS = (1883, 2883), (8883, 9883)  # of clients, of links
ITERATIONS = 5000  # of PBKDF2; mosquitto_passwd uses 101, the file format allows any number
SALT_BYTES = 12
STORE = "/var/lib/mosquitto/"  # where packages of Mosquitto have it
EXPIRES = "14d"  # of sessions whose link never came back
RIGHTS = {OUT: "write", IN: "read", BOTH: "readwrite"}
LINKS = "~links"  # ends the names of files about links; no stem has a ~
TopicLines = Callable[[MeshLink, str, str], list[str]]  # of a link, a name and a direction
BRIDGE = (  # what every bridge says
    "notifications true",
    "notifications_local_only true",
    "keepalive_interval 5",  # the least there is: a peer that froze is noticed after two of them
    "restart_timeout 1 5",  # seconds until it dials again: random, growing from the first to the second
    "try_private true",  # without it messages come back
)
# A bridge of 2.0 counts what was under way when its session ended as under way for ever: 20 such messages,
# and it is up and sends nothing any more. So no limit of messages, but one of bytes, which it counts anew.
IN_FLIGHT = ("max_inflight_messages 0", "max_inflight_bytes 1000000")


def export_mosquitto(request: Request, folder: Path) -> ExportFigures:
    """Fill the folder; return the figures of the mesh."""
    return replace(write_planned(request, folder, LAYOUT), remarks=_remarks(request))


def _remarks(request: Request) -> tuple[str, ...]:
    """Tell of topics whose retained values nobody can vouch for."""
    roles = roles_of(request.interest)
    topics: list[str] = request.interest.topic_ids.to_pylist()
    every = dict(zip(topics, request.interest.topic_sizes().tolist(), strict=True))
    several = 0
    for topic, subscribers in every.items():
        publishers = roles[topic].publishers if topic in roles else None
        several += (subscribers if publishers is None else len(publishers)) > 1 and subscribers > 1
    if not several:
        return ()
    told = counted(several, "topic has", "topics have")
    return (
        f"{told} several publishers: their retained values may swap between brokers after a cut; name the "
        "publishers in a column `role`",
    )


def shape_of(request: Request) -> MeshShape:
    """Return the ports and files of a node."""
    client, link = PORTS if request.tls is None else TLS_PORTS
    return replace(
        SHAPE, ports=(("mqtt", client), ("link", link)) if _apart(request) else (("mqtt", client),)
    )


def _apart(request: Request) -> bool:
    """Return whether links have a listener of their own: they show secrets, or certificates, or both."""
    return bool(request.logins) or request.tls is not None


def plainly(link: MeshLink, name: str, direction: str) -> list[str]:
    """Return what a bridge says of a topic, by its name at the brokers."""
    return [f"topic {name} {direction} 1"]


def render(plan: MeshPlan, request: Request, say: TopicLines = plainly) -> tuple[dict[str, str], list[str]]:
    """Return the files by name, and the names of those with secrets."""
    files: dict[str, str] = {}
    secret: list[str] = []
    for node in plan.mesh.nodes:
        name = node.configs[0]
        files[name] = _config(plan, request, node.name, say)
        if request.logins:
            kept = _secrets(plan, request, node.name)
            files |= kept
            secret += [name, *kept]
    return files, secret


def _secrets(plan: MeshPlan, request: Request, name: str) -> dict[str, str]:
    """Return who may log in at a node and what they may do: its clients, and apart from them its links."""
    stem, login = plan.stems[name], request.logins[name]
    links = {link.name: link for link in plan.accepted[name]}
    return {
        f"{stem}.passwd": mosquitto_passwords([login]),
        f"{stem}.acl": _acl(login.user, _client_rights(plan, name)),
        f"{stem}{LINKS}.passwd": mosquitto_passwords(Login(one, request.secret_of(one)) for one in links),
        f"{stem}{LINKS}.acl": "\n".join(_acl(one, _link_rights(plan, links[one])) for one in sorted(links)),
    }


def _acl(user: str, rights: Iterable[tuple[str, str]]) -> str:
    return "".join([f"user {user}\n", *(f"topic {right} {name}\n" for right, name in rights)])


def _client_rights(plan: MeshPlan, node: str) -> Iterator[tuple[str, str]]:
    """Yield what the clients of a node may do, by its roles; they may also read the state of its broker."""
    for topic in plan.topics_of[node]:
        both = node in topic.senders and node in topic.hearers
        yield "readwrite" if both else "read" if node in topic.hearers else "write", topic.name
    yield "read", "$SYS/#"


def _link_rights(plan: MeshPlan, link: MeshLink) -> Iterator[tuple[str, str]]:
    """Yield what a link may do at its acceptor: what goes out of its dialer is written there."""
    for topic in link.topics:
        yield RIGHTS[plan.direction(link, topic)], plan.name_of[topic]


def _config(plan: MeshPlan, request: Request, name: str, say: TopicLines) -> str:
    node, stem = plan.node[name], plan.stems[name]
    at = f" {node.host}" if is_loopback(node.host) else ""
    tls = []
    if request.tls is not None:
        files = request.certificates(stem)
        tls = [f"cafile {files.authority}", f"certfile {files.certificate}", f"keyfile {files.key}"]
    if request.logins:
        lines = [
            "per_listener_settings true",
            "# A relative path begins at the folder that mosquitto is started in.",
            "# Clients:",
            *(f"listener {node.ports['mqtt']}{at}", *tls, *_asking(stem)),
            "# Links, each with a user of its own:",
            *(f"listener {node.ports['link']}{at}", *tls, *_asking(f"{stem}{LINKS}")),
            *(["require_certificate true"] if tls else []),
        ]
    else:
        lines = [f"listener {node.ports['mqtt']}{at}", *tls]
        if tls:
            lines += ["# Links:", f"listener {node.ports['link']}{at}", *tls, "require_certificate true"]
        lines += ["# Everybody who reaches the port may log in.", "allow_anonymous true"]
    kept = IN_FLIGHT if request.queue is None else _store(request.queue)
    lines = [*kept, *lines]
    for link in plan.dialled[name]:
        lines += ["", *_bridge(plan, request, link, say)]
    return plan.heading("Mosquitto configuration", name, "#") + "\n".join(lines) + "\n"


def _asking(stem: str) -> tuple[str, ...]:
    return "allow_anonymous false", f"password_file {stem}.passwd", f"acl_file {stem}.acl"


def _bridge(plan: MeshPlan, request: Request, link: MeshLink, say: TopicLines) -> list[str]:
    ends = [plan.node[end] for end in (link.acceptor, *link.backups)]
    # Without brackets also for IPv6: Mosquitto 2.0 cuts at the last colon and takes them for part of a name.
    port = "link" if _apart(request) else "mqtt"
    addresses = " ".join(f"{end.host}:{end.ports[port]}" for end in ends)
    lines = [f"connection {link.name}"]
    if link.backups:
        # Back to the first one as soon as it answers again.
        lines += [f"addresses {addresses}", "round_robin false"]
    else:
        lines += [f"address {addresses}"]
    clean = "true" if request.queue is None else "false"
    lines += [f"remote_clientid {_client(plan, request, link)}", f"cleansession {clean}", *BRIDGE]
    if request.logins:
        lines += [f"remote_username {link.name}", f"remote_password {request.secret_of(link.name)}"]
    if request.tls is not None:
        files = request.certificates(plan.stems[link.dialer])
        lines += [f"bridge_cafile {files.authority}"]
        lines += [f"bridge_certfile {files.certificate}", f"bridge_keyfile {files.key}"]
    return lines + [
        line for topic in link.topics for line in say(link, plan.name_of[topic], plan.direction(link, topic))
    ]


def _store(queue: int) -> list[str]:
    """Return how a broker keeps what waits for links that are down, and no more than that."""
    return [
        "# What waits for a link that is down, also while this broker is restarted.",
        "persistence true",
        f"persistence_location {STORE}",
        "autosave_interval 60",
        f"max_queued_messages {queue}",
        f"persistent_client_expiration {EXPIRES}",
    ]


def _client(plan: MeshPlan, request: Request, link: MeshLink) -> str:
    """Return the name that a link logs in by.

    With a session that is kept the acceptor goes on sending what the link once subscribed to, and the dialer
    cannot take that back by saying less. So a link that carries other topics is another client.
    """
    if request.queue is None:
        return link.name
    said = "\n".join(f"{plan.direction(link, topic)} {plan.name_of[topic]}" for topic in link.topics)
    return f"{link.name}~{hashlib.sha256(said.encode()).hexdigest()[:8]}"


def mosquitto_hash(login: Login, salt: bytes | None = None, rounds: int = ITERATIONS) -> str:
    """Return the line of a password file: salted PBKDF2 with SHA-512.

    Unless given, the salt comes from the user's name, so that the same export gives the same bytes; it need
    not be secret, only differ between users.

    >>> mosquitto_hash(Login("ann", "secret")).split("$")[:3]
    ['ann:', '7', '5000']
    """
    if salt is None:
        salt = hashlib.sha256(b"topicloom mosquitto salt\0" + login.user.encode()).digest()[:SALT_BYTES]
    digest = hashlib.pbkdf2_hmac("sha512", login.password.encode(), salt, rounds)
    encoded = (base64.b64encode(part).decode() for part in (salt, digest))
    return f"{login.user}:$7${rounds}${'$'.join(encoded)}"


def mosquitto_passwords(logins: Iterable[Login]) -> str:
    """Return a whole password file; each user once."""
    once = {login.user: login for login in logins}
    return "".join(f"{mosquitto_hash(once[user])}\n" for user in sorted(once))


LAYOUT = MeshLayout(shape_of, plan_trees, render, "the brokers let everybody in", reloads=True)
