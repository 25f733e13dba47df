"""NATS on this machine: servers joined by leaf connections, one for each link; ready when /leafz says so."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from topicloom.errors import InputError
from topicloom.mesh.kinds.nats.clients import NatsAccess, NatsClients, read_access
from topicloom.mesh.kinds.nats.config_language import ConfigValue, parse_nats
from topicloom.mesh.kinds.nats.hashes import is_hash
from topicloom.mesh.kinds.nats.intruders import corrupt, intrude, usurp
from topicloom.mesh.kinds.nats.leaf_connections import live_links, read_all_leafs
from topicloom.mesh.kinds.nats.read import text_of
from topicloom.mesh.kinds.nats.relocate import KNOWN, render_nats
from topicloom.mesh.model.hidden import hide
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.adapter import Argv, Arrival, BrokerAdapter, find_program
from topicloom.mesh.run.attack import Intrusion

CHECKS_AT_ONCE = 4


class NatsAdapter(BrokerAdapter):
    """Starts NATS servers; remembers how to log in to each."""

    program = "nats-server"
    returns_after = 0.5  # never: it keeps to the server that it found

    def __init__(self) -> None:
        self._access: dict[str, NatsAccess] = {}
        self._tried: dict[tuple[str, str], tuple[str, NatsAccess]] = {}  # by file and its text
        self._login = Login(f"topicloom-{secrets.token_hex(8)}", secrets.token_hex(16))

    def last_port(self, node: MeshNode) -> int:
        return node.ports["client"]

    def commands(self, mesh: Mesh, folder: Path) -> dict[str, Argv]:
        program = find_program(self.program)
        files = {node.name: node.configs[0] for node in mesh.nodes}
        texts = {file: (folder / file).read_text() for file in files.values()}
        # In the states of a roll-out nearly all files are those of the state before. To try them all again
        # took so long on a busy machine that servers gave up our clients.
        new = [file for file, text in texts.items() if (file, text) not in self._tried]
        for file in new:
            let_in(folder / file, self._login)
        with ThreadPoolExecutor(CHECKS_AT_ONCE) as pool:
            list(pool.map(lambda name: _check_config(program, folder, name, self.secrets), new))
        for file, text in texts.items():
            if file in new:
                path = folder / file
                self._tried[file, text] = path.read_text(), read_access(path)
            else:
                (folder / file).write_text(self._tried[file, text][0])
        self._access = {name: self._tried[file, texts[file]][1] for name, file in files.items()}
        return {name: (program, "-c", file) for name, file in files.items()}

    async def links_up(self, mesh: Mesh) -> set[str]:
        return {link.name for link in live_links(mesh, await read_all_leafs(mesh))}

    async def links_now(self, mesh: Mesh) -> list[MeshLink]:
        ends = {link.name: (link.acceptor, *link.backups) for link in mesh.links}
        found = []
        for link in live_links(mesh, await read_all_leafs(mesh)):
            # A server that connects begins its list of urls anew, as configured; when the connection is
            # gone it tries the first one, unless it was there, then the second and so on.
            backups = tuple(end for end in ends[link.name] if end != link.acceptor)
            found.append(replace(link, backups=backups))
        return found

    async def intrude(
        self, mesh: Mesh, node: str, folder: Path, heard: Callable[[str, str], None]
    ) -> Intrusion:
        return await intrude(mesh, node, folder, find_program(self.program), self._access[node], heard)

    def corrupt(self, mesh: Mesh, node: str, folder: Path) -> None:
        corrupt(folder / next(one.configs[0] for one in mesh.nodes if one.name == node))

    async def usurp(self, mesh: Mesh, node: str, heard: Callable[[str, str], None]) -> Intrusion:
        own = next(one for one in mesh.nodes if one.name == node)
        return await usurp(node, own.ports["client"], self._access[node], heard)

    def clients(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> NatsClients:
        return NatsClients(mesh, self._access, arrived)


def let_in(path: Path, login: Login) -> None:
    """Add a user of ours to every account whose passwords are hashed: a user belongs to one account only."""
    config = parse_nats(path, path.name)
    accounts = config.get("accounts")
    changed = False
    for name, account in accounts.data.items() if accounts and isinstance(accounts.data, dict) else ():
        users = account.get("users")
        if users is None or not isinstance(users.data, list):
            continue
        if any(is_hash(text_of(user.get("password", "pass")) or "") for user in users.data):
            said = {"user": f"{login.user}.{name}", "password": login.password}
            entry = {key: ConfigValue(text, users.where) for key, text in said.items()}
            users.data.append(ConfigValue(dict(entry), users.where))
            changed = True
    if changed:
        path.write_text(render_nats(config, KNOWN) + "\n")


def _check_config(program: str, folder: Path, file: str, secrets: Collection[str]) -> None:
    """Have the server itself read the file: a fault in it is reported in the server's words."""
    done = subprocess.run(
        (program, "-t", "-c", file), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        said = (done.stderr + done.stdout).strip().replace("\n", " | ")
        said = hide(said.removeprefix("nats-server: "), secrets)
        raise InputError(f"nats-server refuses {file}: {said}")
