"""Proxies between the brokers of a mesh on this machine, so that single links can be cut or stalled.

Each dialer calls its acceptors by a loopback address of its own (see `PortMap`), where a proxy listens and
passes everything on. Cut: connections are closed, and nobody gets through any more, as when a line is dead
and the router says so. Stalled: connections stay, and nothing comes through, as when packets vanish.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal

from topicloom.errors import MeshError
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.run.relocate import Route

How = Literal["cut", "stall"]
CHUNK = 65_536


class Detour:
    """One proxy: passes on, or not, what a dialer and an acceptor say to each other."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._passes = asyncio.Event()
        self._passes.set()
        self._cut = False

    async def open(self) -> None:
        """Listen in the place of the acceptor."""
        self._server = await asyncio.start_server(self._serve, self.route.host, self.route.port)

    def close(self) -> None:
        """Stop listening, and end all connections."""
        if self._server is not None:
            self._server.close()
        self._abort()

    def break_(self, how: How) -> None:
        """Let nothing through from now on."""
        if how == "cut":
            self._cut = True
            self._abort()
        else:
            self._passes.clear()

    def mend(self) -> None:
        """Let everything through again."""
        self._cut = False
        self._passes.set()

    def _abort(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.CancelledError):  # at the end of all; asyncio would print it
            await self._connect(reader, writer)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._passes.wait()
            if self._cut:
                return
            try:
                far_reader, far_writer = await asyncio.open_connection(LOOPBACK, self.route.port)
            except OSError:
                return
            self._writers.add(far_writer)
            ways = [
                asyncio.create_task(self._pass_on(reader, far_writer)),
                asyncio.create_task(self._pass_on(far_reader, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                self._writers.discard(far_writer)
                far_writer.transport.abort()
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._passes.wait()
                writer.write(data)
                await writer.drain()


class Detours:
    """The proxies of all links."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._all = [Detour(route) for route in dict.fromkeys(routes)]

    async def open(self) -> None:
        """Listen everywhere."""
        try:
            for one in self._all:
                await one.open()
        except OSError as error:
            raise MeshError(
                f"cannot put a proxy before a broker ({error.strerror}); links are cut by addresses of "
                "127.0.0.0/8, which Linux has"
            ) from None

    def close(self) -> None:
        """End all of them."""
        for one in self._all:
            one.close()

    def break_(self, pairs: Iterable[tuple[str, str]], how: How) -> None:
        """Break the links between these dialers and acceptors."""
        wanted = set(pairs)
        for one in self._all:
            if (one.route.dialer, one.route.acceptor) in wanted:
                one.break_(how)

    def mend(self) -> None:
        """Let everything through again."""
        for one in self._all:
            one.mend()
