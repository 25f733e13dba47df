"""A mesh that runs: start its brokers, wait for its links, and prove its delivery."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from topicloom.base.progress import Progress
from topicloom.errors import MeshError
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.adapter import Arrival, BrokerAdapter, MeshClients, Publication
from topicloom.mesh.run.delivery import DeliveryVerdict, due_arrivals, judge_delivery, plan_publications
from topicloom.mesh.run.free_ports import is_listening
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.latency import Latency, measure_latency
from topicloom.mesh.run.processes import BrokerProcesses
from topicloom.mesh.run.resource_usage import links_elsewhere, measure_usage, open_connections

# Messages under way at once; brokers drop what they cannot queue (mosquitto: 1,000 for each client).
BATCH = 200
ALONE = 100  # messages of a proof that are published one by one, to see how long each takes
POLL = 0.1  # seconds between two questions for links
LOOK = 0.01  # seconds between two checks whether a broker listens
CALM = 0.5  # seconds without a change while every link is where it belongs
NAMED = 10  # links in an error


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How to run a mesh. Seconds: `timeout` to get ready, `quiet` without an arrival until what is missing
    counts as lost, `settle` after the last arrival in which duplicates and strays would show."""

    messages: int = 10
    seed: int = 0
    timeout: float = 60.0
    quiet: float = 5.0
    settle: float = 1.0
    kill: tuple[str, ...] = ()
    freeze: tuple[str, ...] = ()
    attack: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    stall: tuple[str, ...] = ()
    rate: bool = False


@dataclass(frozen=True, slots=True)
class DeliveryProof:
    """The verdict, whether messages went round and round, and what the deliveries took.

    CPU of all brokers and of the busiest; `carried`: how often a broker took up a message, if known.
    `latency`: of messages that were published one by one.
    """

    verdict: DeliveryVerdict
    storm: bool
    seconds: float
    cpu_seconds: float
    cpu_seconds_max: float
    carried: int | None
    latency: Latency


class RunningMesh:
    """The brokers of a mesh, and the means to talk to them."""

    def __init__(
        self,
        adapter: BrokerAdapter,
        mesh: Mesh,
        folder: Path,
        brokers: BrokerProcesses,
        settings: RunSettings,
        progress: Progress,
    ) -> None:
        self.adapter = adapter
        self.mesh = mesh
        self.brokers = brokers
        self.settings = settings
        self.progress = progress
        self.folder = folder
        self.commands = adapter.commands(mesh, folder)
        self._ports = {node.name: adapter.last_port(node) for node in mesh.nodes}

    async def start(self, nodes: Sequence[str] | None = None) -> None:
        """Start all brokers in the order of the mesh, or those of some nodes."""
        for node in self.mesh.start_order if nodes is None else nodes:
            await self._wait_listening(node)
            self.brokers.start(node, self.commands[node], self.folder)
            self.progress.advance()
            await asyncio.sleep(0)  # an interrupt comes through here

    async def _wait_listening(self, dialer: str) -> None:
        """Wait for the brokers, started before this one, that it dials over links with backups.

        Otherwise it would turn to the backups: nats-server stays there, mosquitto returns seconds later, in
        the middle of the proof.
        """
        waiting = {link.acceptor for link in self.mesh.links if link.dialer == dialer and link.backups}
        waiting &= set(self.brokers.nodes())
        async for late in self._looks(LOOK):
            for acceptor in sorted(waiting):
                if await is_listening(self._ports[acceptor]):
                    waiting.remove(acceptor)
            if late or not waiting:
                return

    async def _looks(self, pause: float = POLL) -> AsyncIterator[bool]:
        """Yield now and then, while all brokers live, whether the time to get ready is up."""
        deadline = time.monotonic() + self.settings.timeout
        while True:
            self.brokers.check_alive()
            yield time.monotonic() > deadline
            await asyncio.sleep(pause)

    async def wait_linked(self) -> None:
        """Wait until all links are up; name those that are not in time."""
        names = {link.name for link in self.mesh.links}
        known = 0
        async for late in self._looks():
            up = await self.adapter.links_up(self.mesh) & names
            self.progress.advance(max(len(up) - known, 0))
            known = max(known, len(up))
            if up == names:
                return
            if late:
                raise self._not_up(names - up)

    async def wait_in_place(self) -> int:
        """Wait until all links are up and none moves any more; return how many stay at a backup.

        A dialer that does not find its acceptor turns to a backup. Mosquitto looks for the first address
        every 5 seconds and returns to it, nats-server keeps to the server that it found. Both are fine:
        wherever links with safe backups end, every topic has a tree. But what is under way while one moves
        may be lost. So it is over when all links are where they belong, or all are open somewhere and none
        has moved for some time. Mosquitto tries the first address with a connection that it closes again,
        while the link is still at the backup: then there is one connection too many. Connections that are no
        link of the mesh do not count: in a roll-out of new passwords a dialer is turned away again and again.
        """
        await self.wait_linked()
        if not any(link.backups for link in self.mesh.links):
            return 0
        ends = {(link.dialer, end) for link in self.mesh.links for end in (link.acceptor, *link.backups)}
        elsewhere, steady, before = 0, time.monotonic(), Counter[tuple[str, str]]()
        async for late in self._looks():
            # Reading them takes long where many brokers run; clients must answer pings then.
            every = await asyncio.to_thread(open_connections, self.mesh, self.brokers.pids())
            open_now = Counter({pair: number for pair, number in every.items() if pair in ends})
            elsewhere = links_elsewhere(self.mesh, open_now)
            now = time.monotonic()
            if open_now != before:
                steady, before = now, open_now
            enough = self.adapter.returns_after if elsewhere else CALM
            whole = open_now.total() == len(self.mesh.links)
            if late or (whole and now - steady > enough):
                break
        await self.wait_linked()
        return elsewhere

    def _not_up(self, missing: set[str]) -> MeshError:
        links = [link for link in self.mesh.links if link.name in missing]
        shown = ", ".join(f"{link.name} ({link.dialer} to {link.acceptor})" for link in links[:NAMED])
        more = "" if len(links) <= NAMED else f" and {len(links) - NAMED} more"
        dialer = links[0].dialer
        return MeshError(
            f"after {self.settings.timeout:g} s {len(links)} of {len(self.mesh.links)} links are not up: "
            f"{shown}{more}; the broker of {dialer} said: {self.brokers.said(dialer, links[0].name)}"
        )

    async def connect(self, arrived: Callable[[Arrival], None]) -> MeshClients:
        """Connect clients everywhere; ask brokers that do not answer yet again until the time is up."""
        async for late in self._looks():
            try:
                return await self.adapter.connect(self.mesh, arrived)
            except ConnectionError as error:
                if late:
                    raise MeshError(f"clients cannot connect: {error}") from None
        raise AssertionError("it is late at last")

    async def prove_again(self) -> DeliveryProof:
        """Connect new clients and judge two messages on every topic."""
        inbox = Inbox(time.monotonic)
        clients = await self.connect(inbox.arrived)
        try:
            return await self.prove(2, clients, inbox)
        finally:
            await clients.close()

    async def prove(self, messages: int, clients: MeshClients, inbox: Inbox) -> DeliveryProof:
        """Publish on every topic from several of its subscribers and judge what arrives."""
        plan = plan_publications(self.mesh, messages, seed=self.settings.seed)
        check = self.brokers.check_alive
        before = {one.node: one.cpu_seconds for one in measure_usage(self.brokers.pids())}
        began = time.monotonic()
        published: list[Publication] = []
        delays: dict[str, list[float]] = {}
        alone = True  # one by one, as long as all arrive
        while len(published) < len(plan) and not inbox.storm:
            alone = alone and len(published) < ALONE
            batch = plan[len(published) : len(published) + (1 if alone else BATCH)]
            inbox.expect(due_arrivals(self.mesh, batch))
            published += batch
            await self.publish(clients, batch, inbox)
            last = len(published) == len(plan)
            came = await inbox.wait(self.settings.quiet if last else min(1.0, self.settings.quiet), check)
            if alone:
                alone, delays = came, {topic: list(own) for topic, own in inbox.delays.items()}
            self.progress.advance(len(batch))
        seconds = time.monotonic() - began
        after = measure_usage(self.brokers.pids())
        cpu = [one.cpu_seconds - before.get(one.node, 0.0) for one in after]
        await clients.publish_outside()
        await inbox.settle(self.settings.settle, check)
        strays = await clients.find_strays(published)
        check()
        verdict = judge_delivery(self.mesh, published, inbox.counts, strays)
        busiest = max(cpu, default=0.0)
        latency = measure_latency(self.mesh, delays)
        carried = clients.messages_carried()
        return DeliveryProof(verdict, inbox.storm, seconds, sum(cpu), busiest, carried, latency)

    async def publish(self, clients: MeshClients, batch: Sequence[Publication], inbox: Inbox) -> None:
        """Hand over all of these; in a storm brokers may never take them, so that ends it too."""

        async def hand_over(one: Publication) -> None:
            inbox.handed(one)
            await clients.publish(one)

        handed = asyncio.gather(*map(hand_over, batch))
        try:
            while not handed.done() and not inbox.storm:
                self.brokers.check_alive()
                await asyncio.wait([handed], timeout=0.2)
            if handed.done():
                handed.result()
        except ConnectionError as error:
            self.brokers.check_alive()
            raise MeshError(f"a message could not be published: {error}") from None
        finally:
            handed.cancel()
            await asyncio.gather(handed, return_exceptions=True)
