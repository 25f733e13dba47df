"""Sessions with Zenoh routers, threads for their blocking calls, and what routers report of themselves.

The zenoh library is optional: it is loaded only when a session is opened.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

import msgspec

from topicloom.errors import UsageError
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.model.search import search

ANSWER = 20.0  # seconds a process may take to tell of all its routers
TAKEN = "topicloom/taken"  # a key that nobody answers for
QUESTION = 1.0  # seconds until a question without an answer is given up
AGAIN = 0.05  # seconds until it is asked again
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ZenohRouter:
    """One router: its identifier, its port, its configuration file, what clients need to get in."""

    node: str
    account: str
    identifier: str
    port: int
    config: str
    client: str  # the configuration of a client, as JSON


def load_zenoh() -> Any:
    """Import the library, or say what to install."""
    try:
        import zenoh
    except ImportError:
        raise UsageError("zenoh is not installed; pip install 'topicloom[zenoh]'") from None
    return zenoh


def read_router(folder: Path, node: str, file: str, ports: dict[int, str], identifier: str) -> ZenohRouter:
    """Read the router of a configuration file; `ports` says which account each port of the node is for."""
    zenoh = load_zenoh()
    config = zenoh.Config.from_file(str(folder / file))

    def value(key: str) -> Any:
        return msgspec.json.decode(config.get_json(key))

    endpoints = [str(one) for one in value("listen/endpoints")]
    port = next(port for port in ports for one in endpoints if one.split("?")[0].endswith(f":{port}"))
    protocol = endpoints[0].partition("/")[0]
    client: dict[str, Any] = {
        "mode": "client",
        "connect": {"endpoints": [f"{protocol}/{LOOPBACK}:{port}"], "timeout_ms": 0},
        "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}},
        "transport": {"shared_memory": {"enabled": False}},
    }
    user, password = (value(f"transport/auth/usrpwd/{part}") for part in ("user", "password"))
    users = value("transport/auth/usrpwd/dictionary_file")
    if users is not None:  # the clients of a node come first; the router itself has the login of its link
        user, _, password = (folder / users).read_text().splitlines()[0].partition(":")
    if user is not None:
        client["transport"]["auth"] = {"usrpwd": {"user": user, "password": password}}
    authority = value("transport/link/tls/root_ca_certificate")
    if authority is not None:
        tls = {"root_ca_certificate": authority, "verify_name_on_connect": False}
        if value("transport/link/tls/enable_mtls"):
            tls["enable_mtls"] = True
            for part in ("certificate", "private_key"):
                tls[f"connect_{part}"] = value(f"transport/link/tls/listen_{part}")
        client["transport"]["link"] = {"tls": tls}
    made = msgspec.json.encode(client).decode()
    # Other routers know this one by the identifier in its file, if there is one.
    return ZenohRouter(node, ports[port], value("id") or identifier, port, file, made)


class ZenohSession:
    """A client of one router. Every call here blocks: use a thread."""

    def __init__(self, router: ZenohRouter) -> None:
        self.router = router
        self._zenoh = load_zenoh()
        try:
            self.session = self._zenoh.open(self._zenoh.Config.from_json5(router.client))
        except self._zenoh.ZError as error:
            said = str(error).partition(" at /")[0]
            raise ConnectionError(f"the router {router.config} does not answer: {said}") from None

    def publish(self, name: str, payload: bytes) -> None:
        """Hand over one message; return when the router has taken it."""
        # Messages and questions of one session keep their order: that a router has nothing to say to a
        # question, or refuses it, means that the message is there. Its admin space would have an answer, but
        # must not be asked: see router_process.py.
        until = time.monotonic() + ANSWER
        with suppress(self._zenoh.ZError):
            self.put(name, payload)
            # While other routers come and go a question may get lost: it is asked again.
            while time.monotonic() < until:
                in_time = all(reply.ok is not None for reply in self.session.get(TAKEN, timeout=QUESTION))
                if in_time and self.session.info.routers_zid():
                    return
                time.sleep(AGAIN)
        raise ConnectionError(f"the router {self.router.config} does not answer any more")

    def put(self, name: str, payload: bytes) -> None:
        """Send one message, without knowing when the router takes it."""
        self.session.put(name, payload, congestion_control=self._zenoh.CongestionControl.BLOCK)

    def close(self) -> None:
        with suppress(self._zenoh.ZError):  # the router may be gone already
            self.session.close()


class DaemonThreads(Executor):
    """Threads for calls that may never come back: the program ends without waiting for them.

    It does wait for those of ThreadPoolExecutor.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        for _ in range(threads):
            threading.Thread(target=self._work, daemon=True).start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        self._calls.put((future, lambda: fn(*args, **kwargs)))
        return future

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            future, function = call
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:
                    future.set_exception(error)

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        """End the threads when they have no call left, without waiting for them."""
        for _ in range(self._threads):
            self._calls.put(None)


Links = Mapping[str, frozenset[str]]  # router -> the routers that it is linked to


async def _read_links(trace: Path) -> Links:
    """Ask the routers of one process for their links; nothing if it does not answer."""
    try:
        port = int(trace.with_name(f"{trace.name}.port").read_text())
        async with asyncio.timeout(ANSWER):
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            try:
                return msgspec.json.decode(await reader.read(), type=dict[str, frozenset[str]])
            finally:
                writer.close()
    except (OSError, ValueError, TimeoutError, msgspec.DecodeError):
        return {}


async def read_links(traces: Iterable[Path]) -> Links:
    """Ask all routers for their links, by identifier."""
    found = await asyncio.gather(*map(_read_links, traces))
    return {identifier: neighbors for links in found for identifier, neighbors in links.items()}


def linked(links: Links, start: str) -> set[str]:
    """Return the routers that links join to this one, itself among them."""
    return set(search(start, lambda router: links.get(router, frozenset())))
