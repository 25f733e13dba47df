"""Mosquitto on this machine: its command lines, its links, and how our clients get in.

Addresses and ports were moved to the loopback before; here a login of our own joins the password file (the
passwords of others are hashed there) and the access list of the temporary copies, and brokers keep our user:
a broker that is started by root would change to another one, could not read the copies then, and would
outlive us when we are killed, because the kernel forgets that it was to die with us.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from topicloom.mesh.kinds.mosquitto.clients import KEPT, MosquittoClients
from topicloom.mesh.kinds.mosquitto.conf_lines import ConfLine, ConfReader
from topicloom.mesh.kinds.mosquitto.intruders import corrupt, intrude, usurp
from topicloom.mesh.kinds.mosquitto.mqtt_client import ANSWER, MqttAccess, MqttClient
from topicloom.mesh.kinds.mosquitto.write import SALT_BYTES, mosquitto_hash
from topicloom.mesh.model.mesh import Mesh, MeshNode
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.adapter import Argv, Arrival, BrokerAdapter, find_program
from topicloom.mesh.run.attack import Intrusion

STATES = "$SYS/broker/connection/#"  # where a dialing broker publishes whether a bridge is up
MARK = "topicloom/mark"  # no bridge carries it; a name that one does would only come later
ROUNDS = 101  # of PBKDF2, as mosquitto_passwd has it; the password is random and gone in a minute


class MosquittoAdapter(BrokerAdapter):
    """Starts Mosquitto brokers; remembers how to log in to each."""

    program = "mosquitto"
    retains = True
    returns_after = 8.0  # it looks for the first address every 5 seconds

    def __init__(self) -> None:
        self._access: dict[str, MqttAccess] = {}
        self._login = Login(f"topicloom-{secrets.token_hex(8)}", secrets.token_hex(16))
        self._watchers: dict[str, tuple[MqttClient, set[str]]] = {}

    def last_port(self, node: MeshNode) -> int:
        return node.ports["mqtt"]

    def commands(self, mesh: Mesh, folder: Path) -> dict[str, Argv]:
        login = self._login
        for node in mesh.nodes:
            conf = folder / node.configs[0]
            amend(conf, folder, login)
            self._access[node.name] = read_access(conf, folder, node.ports["mqtt"], login)
        program = find_program(self.program)
        return {node.name: (program, "-c", node.configs[0]) for node in mesh.nodes}

    async def links_up(self, mesh: Mesh) -> set[str]:
        dialers = dict.fromkeys(link.dialer for link in mesh.links)
        found = await asyncio.gather(*(self._watch(dialer) for dialer in dialers))
        states = dict(zip(dialers, found, strict=True))
        return {link.name for link in mesh.links if link.name in states[link.dialer]}

    async def _watch(self, node: str) -> set[str]:
        """Return the bridges that a broker says are up; a client stays there and hears of every change."""
        client, states = self._watchers.get(node, (None, set()))
        if client is None or not client.connected:
            states = set()
            client = MqttClient(node, "topicloom-states", self._access[node], _state_hearer(states))
            self._watchers[node] = client, states
            with suppress(ConnectionError):
                await client.connect()
                await client.subscribe([STATES], 0)
        return states

    async def read_retained(self, mesh: Mesh) -> dict[tuple[str, str], int]:
        found = await asyncio.gather(
            *(_read_retained(mesh, node, self._access[node.name]) for node in mesh.nodes)
        )
        return {place: message for one in found for place, message in one.items()}

    async def intrude(
        self, mesh: Mesh, node: str, folder: Path, heard: Callable[[str, str], None]
    ) -> Intrusion:
        return await intrude(mesh, node, folder, self._access, heard)

    def corrupt(self, mesh: Mesh, node: str, folder: Path) -> None:
        corrupt(folder / next(one.configs[0] for one in mesh.nodes if one.name == node))

    async def usurp(self, mesh: Mesh, node: str, heard: Callable[[str, str], None]) -> Intrusion:
        return await usurp(node, self._access[node], heard)

    def clients(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> MosquittoClients:
        return MosquittoClients(mesh, self._access, arrived)


async def _read_retained(mesh: Mesh, node: MeshNode, access: MqttAccess) -> dict[tuple[str, str], int]:
    """Subscribe anew at one broker; what it keeps comes before a message of our own, on a name of our own."""
    called = {topic.sent_as: topic.topic for topic in mesh.topics if node.name in topic.subscribers}
    kept: dict[tuple[str, str], int] = {}
    done = asyncio.Event()

    def got(name: str, payload: bytes) -> None:
        if name == MARK:
            done.set()
        elif payload.startswith(KEPT) and name in called:
            kept[node.name, called[name]] = int(payload.removeprefix(KEPT))

    client = MqttClient(node.name, "topicloom-retained", access, got)
    try:
        await client.connect()
        await client.subscribe([*called, MARK], 0)
        await client.publish(MARK, b"")
        await asyncio.wait_for(done.wait(), ANSWER)
    finally:
        client.close()
    return kept


def _state_hearer(states: set[str]) -> Callable[[str, bytes], None]:
    def got(name: str, payload: bytes) -> None:
        if name.endswith("/state"):
            bridge = name.removeprefix(STATES[:-1]).removesuffix("/state")
            (states.add if payload == b"1" else states.discard)(bridge)

    return got


def amend(conf: Path, folder: Path, login: Login) -> None:
    """Let our clients in and keep the user that runs us; files it names are copied, never changed."""
    additions = {
        "password_file": mosquitto_hash(login, secrets.token_bytes(SALT_BYTES), ROUNDS) + "\n",
        "acl_file": f"user {login.user}\ntopic readwrite #\ntopic read $SYS/#\n",
    }
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    lines: list[str] = []
    for line in _lines(conf):
        text = line.text
        if line.key in additions:
            before = (folder / line.rest).read_text()
            copy = folder / f"{conf.name}.{line.key}.{len(lines)}"
            copy.touch(mode=0o600)
            copy.write_text(before + ("\n" if before else "") + additions[line.key])
            text = f"{line.key} {copy}"
        if line.key != "user" or not root:
            lines.append(text)
    conf.write_text("\n".join([*(["user root"] if root else []), *lines]) + "\n")


def read_access(conf: Path, folder: Path, port: int, login: Login) -> MqttAccess:
    """Return how a client gets in at this port."""
    lines = list(_lines(conf))
    said = {line.key: line.rest for line in _of_listener(lines, port)}

    def path(key: str) -> Path | None:
        return folder / said[key] if said.get(key) else None

    named = any(line.key in ("password_file", "acl_file") for line in lines)
    shows = said.get("require_certificate") in ("true", "1")
    return MqttAccess(
        port,
        login.user if named else None,
        login.password if named else None,
        path("cafile"),
        path("certfile") if shows else None,
        path("keyfile") if shows else None,
    )


def _of_listener(lines: list[ConfLine], port: int) -> list[ConfLine]:
    """Return the lines of the listener of this port; those before any `listener` are the default one's."""
    starts = [at for at, line in enumerate(lines) if line.key == "listener"]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines[at].words[1:2] == (str(port),):
            return lines[at:end]
    return lines[: starts[0]] if starts else lines


def _lines(conf: Path) -> Iterator[ConfLine]:
    return ConfReader(conf.parent).lines(conf, conf.name, 0)
