"""Mosquitto: a broker per node, bridges between them.

A bridge is up when the dialing broker says so on `$SYS/broker/connection/LINK/state`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from topicloom.mesh.kinds.mosquitto.clients import MosquittoClients
from topicloom.mesh.kinds.mosquitto.login import amend, listens_on, random_login
from topicloom.mesh.kinds.mosquitto.mqtt_client import MqttAccess, MqttClient
from topicloom.mesh.model.mesh import Mesh, MeshNode
from topicloom.mesh.run.adapter import Arrival, Command, find_program, open_clients

PROGRAM = "mosquitto"
STATES = "$SYS/broker/connection/#"


class MosquittoAdapter:
    """The target; remembers how to log in to each broker."""

    returns_after = 8.0  # it looks for the first address every 5 seconds

    def __init__(self) -> None:
        self._access: dict[str, MqttAccess] = {}
        self._watchers: dict[str, tuple[MqttClient, set[str]]] = {}

    def check_present(self) -> None:
        find_program(PROGRAM)

    def door(self, node: MeshNode) -> int:
        return node.ports["mqtt"]

    def commands(self, mesh: Mesh, folder: Path) -> list[Command]:
        login = random_login()
        program = find_program(PROGRAM)
        for node in mesh.nodes:
            conf = folder / node.configs[0]
            amend(conf, folder, login)
            self._access[node.name] = listens_on(conf, folder, node.ports["mqtt"], login)
        files = {node.name: node.configs[0] for node in mesh.nodes}
        return [Command(name, (program, "-c", files[name])) for name in mesh.start_order]

    async def links_up(self, mesh: Mesh) -> set[str]:
        dialers = dict.fromkeys(link.dialer for link in mesh.links)
        found = await asyncio.gather(*(self._watch(dialer) for dialer in dialers))
        states = dict(zip(dialers, found, strict=True))
        return {link.name for link in mesh.links if link.name in states[link.dialer]}

    async def _watch(self, node: str) -> set[str]:
        """The bridges of this broker that it says are up; a client stays there and hears of every change."""
        client, states = self._watchers.get(node, (None, set()))
        if client is None or not client.connected:
            states = set()
            client = MqttClient(node, "topicloom-states", self._access[node], _state_hearer(states))
            self._watchers[node] = client, states
            with suppress(ConnectionError):
                await client.connect()
                await client.subscribe([STATES], 0)
        return states

    async def connect(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> MosquittoClients:
        return await open_clients(MosquittoClients(mesh, self._access, arrived))


def _state_hearer(states: set[str]) -> Callable[[str, bytes], None]:
    def got(name: str, payload: bytes) -> None:
        if name.endswith("/state"):
            bridge = name.removeprefix(STATES[:-1]).removesuffix("/state")
            (states.add if payload == b"1" else states.discard)(bridge)

    return got
