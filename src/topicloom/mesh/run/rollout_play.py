"""Play a roll-out on this machine: restart or reload one broker after the other as the plan says, under load.

While a broker is away, messages go on at all others: none may come twice, and none may be lost on topics that
the plan does not call interrupted. In every state, once its links are up, a message from each component of
each topic must reach all of the component, once. At the end the new mesh is proved as any other.
"""

from __future__ import annotations

import asyncio
import glob
import shutil
import tempfile
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Summary
from topicloom.errors import InputError, MeshError
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh, MeshNode
from topicloom.mesh.model.search import search
from topicloom.mesh.rollout.mixed_states import MixedStates
from topicloom.mesh.run.adapter import Arrival, BrokerAdapter, MeshClients, Publication
from topicloom.mesh.run.delivery import due_arrivals
from topicloom.mesh.run.free_ports import FreePorts
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.processes import BrokerProcesses
from topicloom.mesh.run.relocate import PortMap, Relocate, Relocated, bring_certificates, copy_mesh
from topicloom.mesh.run.running_mesh import RunningMesh, RunSettings
from topicloom.mesh.run.signals import SignalGuard

ATTEMPTS = 5  # whole starts, each with new ports, when another program takes one of ours
TICK = 0.2  # seconds between two rounds of messages while a broker is away
RELOADS = 0.5  # seconds in which a broker has read its lists again; it looks for signals ten times a second
FINAL = 2  # messages on every topic in the proof at the end
SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Turn:
    """A node gets its files of the folder of this number, and is restarted, or reloaded if that is enough."""

    node: str
    phase: int
    light: bool


@dataclass(frozen=True, slots=True)
class RolloutPlan:
    """The folders from the old mesh to the new one, the nodes to restart before each but the first, and the
    topics that may be interrupted.

    `split`: topics that may be in several components at rest. `reloaded` are those of the nodes that need no
    restart. `turn_back`: stop in the middle of the last phase,
    and return to the old mesh by the same files.
    """

    folders: tuple[Path, ...]
    touched: tuple[tuple[str, ...], ...]
    interrupted: frozenset[str]
    moved: frozenset[str] = frozenset()
    split: frozenset[str] = frozenset()
    turn_back: bool = False
    reloaded: tuple[tuple[str, ...], ...] = ()

    def turns(self) -> list[_Turn]:
        """Return whose turn it is, in order."""
        light = [set(nodes) for nodes in self.reloaded] or [set[str]() for _ in self.touched]
        there = [
            _Turn(node, phase, node in light[phase - 1])
            for phase, nodes in enumerate(self.touched, 1)
            for node in nodes
        ]
        if not self.turn_back:
            return there
        there = there[: len(there) - len(self.touched[-1]) // 2]
        return [*there, *(replace(one, phase=one.phase - 1) for one in reversed(there))]

    @property
    def end(self) -> int:
        """Return the number of the folder that all brokers have at the end."""
        return 0 if self.turn_back else len(self.folders) - 1


class PlayedRollout(Summary, frozen=True, kw_only=True):
    """What came of a roll-out, as `run --rollout --json` prints it.

    `lost` deliveries on topics that the plan calls interrupted, `lost_unplanned` on others; `missing` in
    states at rest; `unplanned` names some of the topics.
    """

    kind: str
    turned_back: bool
    nodes: int
    states: int
    restarted: int
    reloaded: int
    published: int
    delivered: int
    duplicates: int
    lost: int
    lost_unplanned: int
    missing: int
    unplanned: list[str]
    seconds: float
    exact_at_the_end: bool
    exact: bool


@dataclass(slots=True)
class _Tally:
    states: int = 0
    restarted: int = 0
    reloaded: int = 0
    published: int = 0
    delivered: int = 0
    duplicates: int = 0
    lost: int = 0
    missing: int = 0
    unplanned: list[str] | None = None
    lost_unplanned: int = 0


def play_rollout(
    adapter: BrokerAdapter,
    plan: RolloutPlan,
    relocate: Relocate,
    settings: RunSettings,
    *,
    progress: Progress = SILENT,
) -> PlayedRollout:
    """Start the old mesh, take every step of the plan, prove the new mesh, stop it."""
    for attempt in range(1, ATTEMPTS + 1):
        with SignalGuard() as signals, tempfile.TemporaryDirectory(prefix="topicloom-run-") as scratch:
            work, logs = Path(scratch), Path(scratch, "logs")
            logs.mkdir()
            meshes = _move(plan.folders, work, relocate)
            adapter.secrets = frozenset[str]().union(*(one.secrets for one in meshes))
            brokers = BrokerProcesses(work, logs, adapter.secrets)
            try:
                return signals.run(_Play(adapter, plan, meshes, work, brokers, settings, progress).run())
            except MeshError:
                if attempt == ATTEMPTS or not brokers.lost_a_port:
                    raise
    raise AssertionError("the last attempt returns or raises")


def _move(folders: Sequence[Path], work: Path, relocate: Relocate) -> list[Relocated]:
    """Copy all folders and move them to the same ports of this machine."""
    copies = [work / f"mesh-{number}" for number in range(len(folders))]
    for folder, copy in zip(folders, copies, strict=True):
        copy_mesh(folder, copy)
    read = [read_mesh(copy) for copy in copies]
    for copy, mesh in zip(copies, read, strict=True):
        bring_certificates(copy, mesh)
    nodes: dict[str, MeshNode] = {}
    for mesh in read:
        for node in mesh.nodes:
            before = nodes.get(node.name, node)
            if before.host != node.host or any(
                before.ports.get(use, port) != port for use, port in node.ports.items()
            ):
                raise InputError(f"node {node.name!r} changes its address, which cannot be played here")
            nodes[node.name] = replace(node, ports={**before.ports, **node.ports})
    ports = PortMap(replace(read[0], nodes=tuple(nodes.values())), FreePorts().take)
    for copy, mesh in zip(copies, read, strict=True):
        _share_stores(copy, mesh, work / "kept")
    moved = []
    for copy, mesh in zip(copies, read, strict=True):
        found = relocate(copy, mesh, ports)
        for name, text in found.configs.items():
            (copy / name).write_text(text)
        moved.append(found)
    return moved


def _share_stores(copy: Path, mesh: Mesh, stores: Path) -> None:
    """Let a broker find what it kept, whichever files it is started with: as on its own machine."""
    for name in (name for node in mesh.nodes for name in node.configs):
        (stores / name).mkdir(parents=True, exist_ok=True)
        (copy / f"{name}.kept").symlink_to(stores / name)


class _Play:
    def __init__(
        self,
        adapter: BrokerAdapter,
        plan: RolloutPlan,
        meshes: Sequence[Relocated],
        work: Path,
        brokers: BrokerProcesses,
        settings: RunSettings,
        progress: Progress,
    ) -> None:
        self.adapter, self.plan, self.meshes = adapter, plan, [one.mesh for one in meshes]
        self.work, self.brokers, self.settings, self.progress = work, brokers, settings, progress
        self.step = {node.name: 0 for node in self.meshes[0].nodes}
        self.states = MixedStates(self.meshes, plan.folders, plan.moved)
        self.tally = _Tally(unplanned=[])
        self.number = 0
        self.home: dict[str, Path] = {}  # where the process of a node has its files

    async def run(self) -> PlayedRollout:
        began = time.monotonic()
        with self.brokers:
            turns = self.plan.turns()
            self.progress.phase("roll out", len(turns))
            running = self._running()
            await running.start()
            self.home = dict.fromkeys(self.step, running.folder)
            await running.wait_in_place()
            clients, inbox = await self._at_rest(running)
            try:
                for turn in turns:
                    running = await self._take(turn, running, clients, inbox)
                    await clients.close()
                    clients, inbox = await self._at_rest(running)
                    self.progress.advance()
                # What no file of a later phase changed is of it all the same.
                self.step = {node.name: self.plan.end for node in self.meshes[self.plan.end].nodes}
            finally:
                await clients.close()
            proof = await self._prove()
        return self._summary(proof, time.monotonic() - began)

    async def _prove(self) -> bool:
        running = self._running()
        inbox = Inbox(time.monotonic)
        clients = await running.connect(inbox.arrived)
        try:
            proof = await running.prove(FINAL, clients, inbox)
        finally:
            await clients.close()
        return proof.verdict.exact and not proof.storm

    def _summary(self, proof: bool, seconds: float) -> PlayedRollout:
        tally = self.tally
        return PlayedRollout(
            kind=self.meshes[0].kind,
            turned_back=self.plan.turn_back,
            nodes=len(self.meshes[0].nodes),
            states=tally.states,
            restarted=tally.restarted,
            reloaded=tally.reloaded,
            published=tally.published,
            delivered=tally.delivered,
            duplicates=tally.duplicates,
            lost=tally.lost,
            lost_unplanned=tally.lost_unplanned,
            missing=tally.missing,
            unplanned=list(dict.fromkeys(tally.unplanned or ()))[:SHOWN],
            seconds=seconds,
            exact_at_the_end=proof,
            exact=proof and not (tally.duplicates or tally.lost_unplanned or tally.missing),
        )

    # --- states ------------------------------------------------------------------------------------

    def _running(self) -> RunningMesh:
        """Return the mesh as its brokers are configured now, in a folder of its own."""
        mesh = self.states.mesh(self.step)
        folder = self.work / f"state-{self.tally.states}"
        self.tally.states += 1
        folder.mkdir()
        for node in mesh.nodes:
            for name in node.configs:
                shutil.copy(self.work / f"mesh-{self.step[node.name]}" / name, folder)
        return RunningMesh(self.adapter, mesh, folder, self.brokers, self.settings, SILENT)

    # --- traffic -----------------------------------------------------------------------------------

    async def _take(
        self, turn: _Turn, running: RunningMesh, clients: MeshClients, inbox: Inbox
    ) -> RunningMesh:
        """Give a node its files and restart or reload its broker while the others go on."""
        stop, sent = asyncio.Event(), list[Publication]()
        away = set() if turn.light else {turn.node}
        flow = asyncio.create_task(self._flow(running, clients, inbox, away, stop, sent))
        try:
            later = await (self._reload(turn) if turn.light else self._restart(turn))
            await later.wait_in_place()
        finally:
            stop.set()
            await flow
        await inbox.wait(1.0, self.brokers.check_alive)
        await inbox.settle(self.settings.settle, self.brokers.check_alive)
        self._count(inbox, sent, running.mesh, away)
        return later

    async def _restart(self, turn: _Turn) -> RunningMesh:
        if turn.node in self.brokers.nodes():
            self.brokers.end(turn.node)
        self.step.pop(turn.node, None)
        if any(one.name == turn.node for one in self.meshes[turn.phase].nodes):
            self.step[turn.node] = turn.phase
        # Files are written and tried (NATS starts a server for each); clients must answer pings then.
        later = await asyncio.to_thread(self._running)
        if turn.node in self.step:
            await later.start([turn.node])
            self.home[turn.node] = later.folder
            self.tally.restarted += 1
        return later

    async def _reload(self, turn: _Turn) -> RunningMesh:
        """Put the files that the configuration names in the place of those that the broker has read."""
        self.step[turn.node] = turn.phase
        later = await asyncio.to_thread(self._running)
        (node,) = (one for one in self.meshes[turn.phase].nodes if one.name == turn.node)
        for name in node.configs:
            for path in later.folder.glob(f"{glob.escape(name)}.*"):
                shutil.copy(path, self.home[turn.node])
        self.brokers.hang_up(turn.node)
        self.tally.reloaded += 1
        await asyncio.sleep(RELOADS)
        return later

    async def _flow(
        self,
        running: RunningMesh,
        clients: MeshClients,
        inbox: Inbox,
        away: Collection[str],
        stop: asyncio.Event,
        sent: list[Publication],
    ) -> None:
        turn = 0
        while not stop.is_set() and not inbox.storm:
            batch = []
            for topic in running.mesh.topics:
                members = [one for one in topic.senders if one not in away]
                if members:
                    batch.append(self._message(members[turn % len(members)], topic.topic))
            inbox.expect(one for one in due_arrivals(running.mesh, batch) if one.node not in away)
            await running.publish(clients, batch, inbox)
            sent += batch
            turn += 1
            await asyncio.sleep(TICK)

    def _message(self, node: str, topic: str) -> Publication:
        self.number += 1
        return Publication(node, topic, self.number)

    def _count(self, inbox: Inbox, sent: Sequence[Publication], mesh: Mesh, away: Collection[str]) -> None:
        """Judge what came while a broker was away."""
        self._count_arrivals(inbox)
        self.tally.published += len(sent)
        members = {topic.topic: set(topic.hearers) - set(away) for topic in mesh.topics}
        for one in sent:
            got = {node for node in members[one.topic] if inbox.counts[Arrival(node, one.topic, one.message)]}
            lost = len(members[one.topic] - got)
            if one.topic in self.plan.interrupted:
                self.tally.lost += lost
            elif lost:
                self.tally.lost_unplanned += lost
                assert self.tally.unplanned is not None
                self.tally.unplanned.append(one.topic)

    def _count_arrivals(self, inbox: Inbox) -> None:
        self.tally.delivered += len(inbox.counts)
        self.tally.duplicates += sum(count - 1 for count in inbox.counts.values())
        if inbox.storm:
            raise MeshError("messages go round and round, so it was ended; a topic has a cycle of links")

    async def _at_rest(self, running: RunningMesh) -> tuple[MeshClients, Inbox]:
        """Connect clients, and let each component of each topic hear itself."""
        inbox = Inbox(time.monotonic)
        clients = await running.connect(inbox.arrived)
        mesh = running.mesh
        sent: list[Publication] = []
        links = await self.adapter.links_now(mesh)
        for topic in mesh.topics:
            left = set(topic.subscribers)
            near = self.states.near(links, self.step, topic.topic)
            for sender in topic.senders:
                if sender in left:  # one message for each component, and from all who nobody else reaches
                    reached = set(search(sender, near.__getitem__))
                    left -= reached
                    if topic.topic not in self.plan.split:
                        reached |= self.states.must_hear(topic.topic, sender)
                    one = self._message(sender, topic.topic)
                    sent.append(one)
                    inbox.expect(
                        Arrival(node, one.topic, one.message) for node in topic.hearers if node in reached
                    )
        await running.publish(clients, sent, inbox)
        await inbox.wait(self.settings.quiet, self.brokers.check_alive)
        await inbox.settle(min(self.settings.settle, 0.3), self.brokers.check_alive)
        self.tally.published += len(sent)
        self.tally.missing += inbox.missing
        self._count_arrivals(inbox)
        inbox.give_up()
        inbox.counts.clear()
        return clients, inbox
