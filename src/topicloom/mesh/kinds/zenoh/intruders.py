"""Intruders at Zenoh routers: clients, and routers that dial, with all that one site knows."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from topicloom.mesh.kinds.zenoh.sessions import DaemonThreads, ZenohRouter, load_zenoh
from topicloom.mesh.model.mesh import Mesh, NodeAccount
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.secrets import read_secrets
from topicloom.mesh.run.attack import Heard, Intrusion, Write, is_genuine

THREADS = 8  # the library's calls block
MODES = ("client", "router")


async def intrude(
    mesh: Mesh, node: str, folder: Path, routers: Mapping[NodeAccount, ZenohRouter], heard: Heard
) -> Intrusion:
    """Try every login of the site, as a client and as a router, at all routers of the others."""
    own = [router for (name, _), router in routers.items() if name == node]
    logins = [Login("", ""), *_known(own, node, folder)]
    found = Intrusion()
    ways = [
        (router, _config(router, own, login, mode))
        for (name, _), router in sorted(routers.items())
        if name != node
        for login in logins
        for mode in MODES
    ]
    return await enter(found, ways, [topic.name for topic in mesh.topics], heard)


async def enter(
    found: Intrusion, ways: Iterable[tuple[ZenohRouter, str]], names: list[str], heard: Heard
) -> Intrusion:
    """Open a session by each of these configurations, and listen wherever one gets in."""
    loop, threads = asyncio.get_running_loop(), DaemonThreads(THREADS)

    def call(function: Callable[..., Any], *arguments: Any) -> Awaitable[Any]:
        return loop.run_in_executor(threads, function, *arguments)

    async def try_one(router: ZenohRouter, config: str) -> None:
        found.attempts += 1
        session = await call(_open, config)
        if session is None:
            return

        def got(sample: Any) -> None:  # in a thread of the library
            if is_genuine(sample.payload.to_bytes()):
                loop.call_soon_threadsafe(heard, router.node, str(sample.key_expr))

        for name in ("**", *names):
            await call(session.declare_subscriber, name, got)
        found.writers.append(_writer(session, call))
        found.closers.append(lambda: call(session.close))

    await asyncio.gather(*(try_one(*way) for way in ways))
    return found


def corrupt(files: Iterable[Path]) -> None:
    """Take the access control out of the configurations of a site."""
    for file in files:
        config = msgspec.json.decode(file.read_bytes())
        config.pop("access_control", None)
        file.write_bytes(msgspec.json.encode(config))


def _known(own: Iterable[ZenohRouter], node: str, folder: Path) -> list[Login]:
    """Return all logins in the files of a node: of links it dials or lets in, and of its clients."""
    zenoh = load_zenoh()
    known = []
    for router in own:
        config = zenoh.Config.from_file(str(folder / router.config))
        said = (
            msgspec.json.decode(config.get_json(f"transport/auth/usrpwd/{part}"))
            for part in ("user", "password", "dictionary_file")
        )
        user, password, users = said
        if user is not None:
            known.append(Login(user, password))
        if users is not None:
            lines = (line.partition(":") for line in (folder / users).read_text().splitlines())
            known += [Login(name, secret) for name, _, secret in lines if name]
    client = read_secrets(folder).clients.get(node)
    return list(dict.fromkeys([*known, *([client] if client else [])]))


def _config(router: ZenohRouter, own: Iterable[ZenohRouter], login: Login, mode: str) -> str:
    """Return how a client gets in at a router, with another login and the certificate of the site."""
    config = msgspec.json.decode(router.client)
    mine = msgspec.json.decode(next(iter(own)).client)
    config["mode"] = mode
    config["id"] = f"e{secrets.token_hex(7)}"
    if mode == "router":
        config["listen"] = {"endpoints": []}
        config["connect"]["exit_on_failure"] = True
    config["transport"] = {key: part for key, part in mine["transport"].items() if key != "auth"}
    if login.user:
        config["transport"]["auth"] = {"usrpwd": {"user": login.user, "password": login.password}}
    return msgspec.json.encode(config).decode()


def _open(config: str) -> Any:
    zenoh = load_zenoh()
    try:
        return zenoh.open(zenoh.Config.from_json5(config))
    except zenoh.ZError:
        return None


def _writer(session: Any, call: Callable[..., Awaitable[Any]]) -> Write:
    async def write(name: str, number: int) -> None:
        await call(session.put, name, str(number).encode())

    return write
