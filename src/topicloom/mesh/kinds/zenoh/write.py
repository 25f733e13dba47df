"""Zenoh: one router per node and class of topics, in the class's forest.

Routers of one network send along shortest paths over all of them, wanted or not. In a forest there is only
one path, and it stays among the subscribers of the topic; so each class is a network of its own.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import address
from topicloom.mesh.plan.credentials import certificates_of
from topicloom.mesh.plan.hosts import bind_host
from topicloom.mesh.plan.link_plan import plan_forests
from topicloom.mesh.plan.mesh_plan import MeshPlan, MeshShape, write_planned
from topicloom.mesh.plan.names import NameRule
from topicloom.mesh.plan.request import ExportFigures, Request

# Wildcards and what is reserved; chunks between slashes may not be empty; @ hides a chunk from wildcards.
NAMES = NameRule(
    "zenoh",
    r"[*$#?]|^/|(?<=/)/|/\Z|(?:^|(?<=/))@",
    60_000,
    "its declaration must fit into a batch of Zenoh",
)
SHAPE = MeshShape(NAMES, (("router", 7447),), ".json5", by_account=True)
OPEN = "Everybody who reaches the port may log in."
PATHS = "A relative path begins at the folder that the router is started in."


def export_zenoh(request: Request, folder: Path) -> ExportFigures:
    """Fill the folder; return the figures of the mesh."""
    _refuse_addresses(request)
    return write_planned(request, folder, SHAPE, plan_forests, render, "the routers let everybody in")


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
        },
        "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}},
        "adminspace": {"enabled": True, "permissions": {"read": True, "write": False}},
    }
    transport: dict[str, object] = {}
    if request.logins:
        login, users = request.logins[name], _users_file(plan, name, account)
        transport["auth"] = {
            "usrpwd": {"user": login.user, "password": login.password, "dictionary_file": users}
        }
    if request.tls is not None:
        files = certificates_of(request.tls, plan.stems[name])
        transport["link"] = {
            "tls": {
                "root_ca_certificate": files.authority,
                "listen_certificate": files.certificate,
                "listen_private_key": files.key,
            }
        }
    if transport:
        content["transport"] = transport
    text = msgspec.json.format(msgspec.json.encode(content), indent=2).decode()
    remark = PATHS if request.logins else OPEN
    return plan.heading(f"Zenoh router {account}", name, "//") + f"// {remark}\n{text}\n"


def _users_file(plan: MeshPlan, name: str, account: str) -> str:
    return f"{plan.stems[name]}~{account}.users"


def _users(plan: MeshPlan, request: Request, name: str, account: str) -> str:
    """List who may log in here: the node's own clients and the routers that dial it."""
    logins = {request.logins[who] for who in (name, *plan.callers[name].get(account, ()))}
    return "".join(f"{login.user}:{login.password}\n" for login in sorted(logins, key=lambda one: one.user))
