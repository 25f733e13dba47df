"""Zenoh on this machine: one router for each node and account, all routers of a node in one process.

A link is up when the routers of both its ends report each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from topicloom.mesh.kinds.zenoh.clients import ZenohClients
from topicloom.mesh.kinds.zenoh.intruders import corrupt, enter, intrude
from topicloom.mesh.kinds.zenoh.sessions import Links, ZenohRouter, load_zenoh, read_links, read_router
from topicloom.mesh.kinds.zenoh.write import LIMIT
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, NodeAccount
from topicloom.mesh.run.adapter import Argv, Arrival, BrokerAdapter
from topicloom.mesh.run.attack import Intrusion


class ZenohAdapter(BrokerAdapter):
    """Starts Zenoh routers; remembers them and where each process reports on them."""

    returns_after = 0.5  # links have no backups to return from

    def __init__(self) -> None:
        self._routers: dict[NodeAccount, ZenohRouter] = {}
        self._traces: dict[str, Path] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def check_present(self) -> None:
        load_zenoh()

    def last_port(self, node: MeshNode) -> int:
        return next(iter(node.ports.values()))

    def commands(self, mesh: Mesh, folder: Path) -> dict[str, Argv]:
        self._routers.clear()
        program = (sys.executable, "-m", "topicloom.mesh.kinds.zenoh.router_process")
        found: dict[str, Argv] = {}
        for node in mesh.nodes:
            # Where brokers are restarted from another folder, those that run go on with their old trace. A
            # whole start that is tried again has removed it.
            trace = self._traces.get(node.name)
            if trace is None or not trace.parent.exists():
                trace = self._traces[node.name] = folder / f"trace-{len(found)}-{len(self._traces)}"
            routers = self._routers_of(node, folder)
            found[node.name] = (*program, str(trace), *(f"{one.identifier}={one.config}" for one in routers))
        return found

    def _routers_of(self, node: MeshNode, folder: Path) -> list[ZenohRouter]:
        ports = {port: account for account, port in node.ports.items()}
        routers = []
        for file in node.configs:
            # Zenoh's trace shows seven digits of an identifier; so these have no more.
            number = self._numbers.setdefault((node.name, file), len(self._numbers))
            identifier = f"a{number:06x}"
            router = read_router(folder, node.name, file, ports, identifier)
            self._routers[node.name, router.account] = router
            routers.append(router)
        return routers

    async def links_up(self, mesh: Mesh) -> set[str]:
        links = await read_links(self._traces.values())
        return {link.name for link in mesh.links if self._is_up(link, links)}

    def _is_up(self, link: MeshLink, links: Links) -> bool:
        dialer, acceptor = (
            self._routers[end, link.account or ""].identifier for end in (link.dialer, link.acceptor)
        )
        return acceptor in links.get(dialer, ()) and dialer in links.get(acceptor, ())

    def clients(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> ZenohClients:
        return ZenohClients(mesh, self._routers, self._traces, arrived)

    def limit(self, mesh: Mesh) -> str | None:
        return None if "tls" in mesh.options else LIMIT

    async def intrude(
        self, mesh: Mesh, node: str, folder: Path, heard: Callable[[str, str], None]
    ) -> Intrusion:
        return await intrude(mesh, node, folder, self._routers, heard)

    def corrupt(self, mesh: Mesh, node: str, folder: Path) -> None:
        corrupt(folder / router.config for (name, _), router in self._routers.items() if name == node)

    async def usurp(self, mesh: Mesh, node: str, heard: Callable[[str, str], None]) -> Intrusion:
        own = [router for (name, _), router in self._routers.items() if name == node]
        names = [topic.name for topic in mesh.topics]
        return await enter(Intrusion(), [(router, router.client) for router in own], names, heard)
