"""Zenoh: one router per node and class of topics, in the class's forest.

Routers of one network send along shortest paths over all of them, wanted or not. In a forest there is only
one path, and it stays among the subscribers of the topic; so each class is a network of its own.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import msgspec

from topicloom.errors import InputError
from topicloom.mesh.kinds.zenoh.access import access_control, router_id
from topicloom.mesh.model.config_files import address
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.filters import FilterRule
from topicloom.mesh.plan.hosts import bind_host
from topicloom.mesh.plan.link_plan import plan_forests
from topicloom.mesh.plan.mesh_plan import MeshLayout, MeshPlan, MeshShape, write_planned
from topicloom.mesh.plan.names import NameRule
from topicloom.mesh.plan.request import ExportFigures, Request

# Wildcards and what is reserved; chunks between slashes may not be empty; @ hides a chunk from wildcards.
NAMES = NameRule(
    "zenoh",
    r"[*$#?]|^/|(?<=/)/|/\Z|(?:^|(?<=/))@",
    60_000,
    "its declaration must fit into a batch of Zenoh",
    filters=FilterRule("/", "*", "**", rest_last=False, rest_none=True),
)
SHAPE = MeshShape(NAMES, (("router", 7447),), ".json5", by_account=True)
LEASE_MS = 8000  # a neighbor that is silent for so long is given up
SPREAD_MS = 1000  # routers wait up to so much longer than others until they dial again
KEEP_ALIVE = 4  # signs of life in that time
OPEN = "Everybody who reaches the port may log in."
LIMIT = (
    "without TLS a router is known by its identifier only: while it is down, a site with the login of "
    "another link can take its place and gets what the link carries"
)
PATHS = "A relative path begins at the folder that the router is started in."


def export_zenoh(request: Request, folder: Path) -> ExportFigures:
    """Fill the folder; return the figures of the mesh."""
    _refuse_addresses(request)
    figures = write_planned(request, folder, LAYOUT)
    if request.logins and request.tls is None:
        return replace(figures, remarks=(f"{LIMIT}; give `tls` against that",))
    return figures


def render(plan: MeshPlan, request: Request) -> tuple[dict[str, str], list[str]]:
    """Return the files by name, and the names of those with secrets."""
    configs: dict[str, str] = {}
    for node in plan.mesh.nodes:
        for name, account in zip(node.configs, plan.wanted[node.name], strict=True):
            configs[name] = _config(plan, request, node.name, account)
            if request.logins:
                configs[_users_file(plan, node.name, account)] = _users(plan, request, node.name, account)
    return configs, list(configs) if request.logins else []


def _refuse_addresses(request: Request) -> None:
    """Refuse IPv6 with TLS: Zenoh (1.10) takes the brackets of tls/[::1]:7447 for part of the name."""
    hosts = {node: place.host for node, place in request.places.items() if ":" in place.host}
    if request.tls is not None and hosts:
        node, host = next(iter(hosts.items()))
        raise InputError(
            f"`tls`: zenoh cannot check a certificate against the IPv6 address {host} of node {node!r}; give "
            "a name in `hosts`"
        )


def _config(plan: MeshPlan, request: Request, name: str, account: str) -> str:
    node = plan.node[name]
    scheme = "tcp" if request.tls is None else "tls"
    dialled = [plan.node[link.acceptor] for link in plan.dialled[name] if link.account == account]
    content: dict[str, object] = {
        "mode": "router",
        "listen": {"endpoints": [f"{scheme}/{address(bind_host(node.host), node.ports[account])}"]},
        "connect": {
            "endpoints": [f"{scheme}/{address(end.host, end.ports[account])}" for end in dialled],
            "timeout_ms": -1,
            "exit_on_failure": False,
            "retry": _retry(name, account),
        },
        "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}},
        # A question for its admin space can stop a router for ever (see router_process.py).
        "adminspace": {"enabled": False},
    }
    transport: dict[str, object] = {}
    link: dict[str, object] = {"tx": {"lease": LEASE_MS, "keep_alive": KEEP_ALIVE}}
    if request.logins:
        own = _login(plan, request, name, account)
        login = {"user": own.user, "password": own.password} if own else {}
        transport["auth"] = {"usrpwd": {**login, "dictionary_file": _users_file(plan, name, account)}}
        content["id"] = router_id(plan.stems[name], account)
        content["access_control"] = access_control(plan, request, name, account)
    if request.tls is not None:
        files = request.certificates(plan.stems[name])
        tls: dict[str, object] = {
            "root_ca_certificate": files.authority,
            "listen_certificate": files.certificate,
            "listen_private_key": files.key,
            # Both ends of a link show certificates, and so do clients: there is one listener.
            "enable_mtls": True,
            "connect_certificate": files.certificate,
            "connect_private_key": files.key,
        }
        link["tls"] = tls
    content["transport"] = {**transport, "link": link}
    text = msgspec.json.format(msgspec.json.encode(content), indent=2).decode()
    remark = PATHS if request.logins else OPEN
    return plan.heading(f"Zenoh router {account}", name, "//") + f"// {remark}\n{text}\n"


def _retry(name: str, account: str) -> dict[str, int]:
    """Return the milliseconds until this router dials again, which grow.

    Zenoh adds nothing random. So that not all routers dial at the same moment, they wait for different times.
    """
    spread = zlib.crc32(f"{name}~{account}".encode()) % SPREAD_MS
    return {"period_init_ms": 1000 + spread, "period_max_ms": 4000 + spread, "period_increase_factor": 2}


def _login(plan: MeshPlan, request: Request, dialer: str, account: str) -> Login | None:
    """Return how a router logs in where it dials: it has one login, that of its link.

    A planned router dials one other of its network at most; one that dials several shows all the same.
    """
    links = (plan.accepting or plan.mesh).links
    own = next((one.name for one in links if (one.dialer, one.account) == (dialer, account)), None)
    return None if own is None else Login(own, request.secret_of(own))


def _users_file(plan: MeshPlan, name: str, account: str) -> str:
    return f"{plan.stems[name]}~{account}.users"


def _users(plan: MeshPlan, request: Request, name: str, account: str) -> str:
    """List who may log in here: the node's own clients first, then the links that come in."""
    callers = [link.dialer for link in plan.accepted[name] if link.account == account]
    links = [_login(plan, request, dialer, account) for dialer in callers]
    logins = [request.logins[name], *sorted(filter(None, links), key=lambda login: login.user)]
    return "".join(f"{login.user}:{login.password}\n" for login in logins)


LAYOUT = MeshLayout(lambda request: SHAPE, plan_forests, render, "the routers let everybody in")
