"""Intruders at Mosquitto brokers: MQTT clients that log in with all that one site knows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from topicloom.errors import MeshError
from topicloom.mesh.kinds.mosquitto.conf_lines import ConfReader
from topicloom.mesh.kinds.mosquitto.mqtt_client import MqttAccess, MqttClient
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.secrets import read_secrets
from topicloom.mesh.run.attack import Heard, Intrusion, Write, is_genuine

GIVE_UP = 2.0  # seconds without an answer: what is not allowed is often not answered


async def intrude(
    mesh: Mesh, node: str, folder: Path, access: dict[str, MqttAccess], heard: Heard
) -> Intrusion:
    """Try every login of the site at every port of the others."""
    known = known_logins(mesh, node, folder)
    shown = _certificate(mesh, node, folder)
    foreign = [topic.sent_as for topic in mesh.topics if node not in topic.subscribers]
    found = Intrusion()
    for other in mesh.nodes:
        if other.name == node:
            continue
        for port in other.ports.values():
            for login in [Login("", ""), *known]:
                found.attempts += 1
                way = replace(access[other.name], port=port, user=login.user or None, password=login.password)
                way = replace(way, certificate=shown[0], key=shown[1]) if shown else way
                name = f"topicloom-intruder-{found.attempts}"
                client = MqttClient(other.name, name, way, _hearer(other.name, heard))
                try:
                    await client.connect()
                except (MeshError, ConnectionError):
                    continue
                await _listen(client, ["#", *foreign])
                found.writers.append(_writer(client))
                found.closers.append(_closer(client))
    return found


def corrupt(conf: Path) -> None:
    """Let all bridges of a broker ask for everything and send everything; drop its access lists."""
    kept = [line for line in conf.read_text().splitlines() if not line.startswith("acl_file ")]
    bridges = [f"{line}\ntopic # both 0" if line.startswith("connection ") else line for line in kept]
    conf.write_text("\n".join(bridges) + "\n")


async def usurp(node: str, access: MqttAccess, heard: Heard) -> Intrusion:
    """Listen at one's own broker, where everything is allowed."""
    client = MqttClient(node, "topicloom-usurper", access, _hearer(f"{node} itself", heard))
    await client.connect()
    await _listen(client, ["#"])
    return Intrusion(writers=[_writer(client)], closers=[_closer(client)])


def known_logins(mesh: Mesh, node: str, folder: Path) -> list[Login]:
    """Return the logins in the files of a node, and that of its clients."""
    own = next(one for one in mesh.nodes if one.name == node)
    users: list[str] = []
    passwords: list[str] = []
    for file in own.configs:
        for line in ConfReader(folder).lines(folder / file, file, 0):
            if line.key == "remote_username":
                users.append(line.rest)
            elif line.key == "remote_password":
                passwords.append(line.rest)
    client = read_secrets(folder).clients.get(node)
    return [*map(Login, users, passwords), *([client] if client else [])]


def _certificate(mesh: Mesh, node: str, folder: Path) -> tuple[Path, Path] | None:
    """Return the certificate and the key that the broker of a node shows, if it has one."""
    file = next(one.configs[0] for one in mesh.nodes if one.name == node)
    said = {line.key: line.rest for line in ConfReader(folder).lines(folder / file, file, 0)}
    return (folder / said["certfile"], folder / said["keyfile"]) if "certfile" in said else None


async def _listen(client: MqttClient, names: list[str]) -> None:
    for name in names:
        try:
            await asyncio.wait_for(client.subscribe([name], 0), GIVE_UP)
        except (MeshError, ConnectionError, TimeoutError):
            continue


def _hearer(at: str, heard: Heard) -> Callable[[str, bytes], None]:
    return lambda name, payload: heard(at, name) if is_genuine(payload) else None


def _writer(client: MqttClient) -> Write:
    async def write(name: str, number: int) -> None:
        try:
            await asyncio.wait_for(client.publish(name, str(number).encode()), GIVE_UP)
        except (MeshError, ConnectionError, TimeoutError):
            return

    return write


def _closer(client: MqttClient) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        client.close()

    return close
