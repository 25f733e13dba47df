"""Intruders at NATS servers: clients, and servers that dial as leaf nodes, with all that one site knows."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import nats
import nats.errors

from topicloom.mesh.kinds.nats.clients import NatsAccess
from topicloom.mesh.kinds.nats.config_language import parse_nats
from topicloom.mesh.kinds.nats.read import read_nats, text_of
from topicloom.mesh.kinds.nats.relocate import KNOWN, render_nats
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.secrets import read_secrets
from topicloom.mesh.run.adapter import loopback_context
from topicloom.mesh.run.attack import Heard, Intrusion, Write, is_genuine
from topicloom.mesh.run.free_ports import FreePorts, is_listening

ANSWER = 5.0
LINKED = 3.0  # seconds in which a rogue server would have got its link


async def intrude(
    mesh: Mesh, node: str, folder: Path, program: str, access: NatsAccess, heard: Heard
) -> Intrusion:
    """Try every login of the site as a client and as a leaf node at all other servers; `access` has the
    certificates of its own one."""
    links, clients = _known(mesh, node, folder)
    found = Intrusion()
    for other in mesh.nodes:
        if other.name == node:
            continue
        for login in [*links, *clients]:
            await _as_client(found, other.name, other.ports["client"], login, access, heard)
    for login in links:
        ports = [other.ports["leaf"] for other in mesh.nodes if other.name != node]
        await _as_leaf(found, program, login, ports, access, heard)
    return found


def corrupt(conf: Path) -> None:
    """Take every right that the users of a server are limited to, and every deny list, out of its file."""
    config = parse_nats(conf, conf.name)
    for _, value in config.walk():
        if isinstance(value.data, dict):
            for key in ("permissions", "deny_imports", "deny_exports"):
                value.data.pop(key, None)
    conf.write_text(render_nats(config, KNOWN) + "\n")


async def usurp(node: str, port: int, access: NatsAccess, heard: Heard) -> Intrusion:
    """Listen in every account of one's own server, where everything is allowed."""
    found = Intrusion()
    for login in access.logins.values():
        await _as_client(found, f"{node} itself", port, login, access, heard)
    return found


def _known(mesh: Mesh, node: str, folder: Path) -> tuple[list[Login], list[Login]]:
    """Return the logins of the links that a node dials, and those of its clients."""
    own = next(one for one in mesh.nodes if one.name == node)
    links = []
    for remote in read_nats(folder / own.configs[0]).remotes:
        parts = urlsplit(text_of(remote.urls[0].value) or "")
        links.append(Login(unquote(parts.username or ""), unquote(parts.password or "")))
    client = read_secrets(folder).clients.get(node)
    accounts = {topic.account for topic in mesh.topics if node in topic.subscribers}
    named = (
        [Login(f"{client.user}.{one}", client.password) for one in sorted(filter(None, accounts))]
        if client
        else []
    )
    return links, named


async def _as_client(
    found: Intrusion, at: str, port: int, login: Login, access: NatsAccess, heard: Heard
) -> None:
    found.attempts += 1
    with suppress(nats.errors.Error, OSError, TimeoutError, asyncio.CancelledError):
        client = await nats.connect(
            f"{'tls' if access.authority else 'nats'}://{LOOPBACK}:{port}",
            user=login.user,
            password=login.password,
            tls=loopback_context(access.authority, access.certificate, access.key)
            if access.authority
            else None,
            allow_reconnect=False,
            connect_timeout=ANSWER,
            error_cb=_ignore,
        )
        await _listen(found, at, client, heard)


async def _as_leaf(
    found: Intrusion, program: str, login: Login, ports: list[int], access: NatsAccess, heard: Heard
) -> None:
    """Start a server of our own that dials all others with the login of one link."""
    found.attempts += len(ports)
    scratch = tempfile.TemporaryDirectory(prefix="topicloom-intruder-")
    port = FreePorts().take()
    who = f"{quote(login.user, safe='')}:{quote(login.password, safe='')}"
    scheme, tls = "nats-leaf", ""
    if access.authority:
        files = f'ca_file: "{access.authority}", cert_file: "{access.certificate}", key_file: "{access.key}"'
        scheme, tls = "tls", f", tls: {{{files}, insecure: true}}"
    remotes = ", ".join(f'{{url: "{scheme}://{who}@{LOOPBACK}:{one}", account: X{tls}}}' for one in ports)
    config = Path(scratch.name, "rogue.conf")
    config.write_text(
        f'server_name: rogue-{len(found.closers)}\nlisten: "{LOOPBACK}:{port}"\n'
        f"accounts: {{X: {{users: [{{user: x, password: x}}]}}}}\n"
        f"leafnodes: {{reconnect: 1, remotes: [{remotes}]}}\n"
    )
    process = subprocess.Popen(
        (program, "-c", str(config)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    async def close() -> None:
        process.kill()
        process.wait()
        scratch.cleanup()

    found.closers.append(close)
    while not await is_listening(port) and process.poll() is None:
        await asyncio.sleep(0.05)
    client = await nats.connect(
        f"nats://{LOOPBACK}:{port}", user="x", password="x", allow_reconnect=False, error_cb=_ignore
    )
    await _listen(found, f"a leaf node with the login of {login.user}", client, heard)
    await asyncio.sleep(LINKED)


async def _listen(found: Intrusion, at: str, client: Any, heard: Heard) -> None:
    async def got(message: Any) -> None:
        if is_genuine(message.data):
            heard(at, message.subject)

    await client.subscribe(">", cb=got)
    with suppress(nats.errors.Error, TimeoutError):
        await client.flush()
    found.writers.append(_writer(client))
    found.closers.append(client.close)


def _writer(client: Any) -> Write:
    async def write(name: str, number: int) -> None:
        with suppress(nats.errors.Error, OSError, TimeoutError):
            await client.publish(name, str(number).encode())
            await client.flush()

    return write


async def _ignore(_error: Exception) -> None:
    """Do nothing: to be refused is what an intruder expects."""
