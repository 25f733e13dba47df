"""Run a mesh on this machine from start to finish: start it, prove it, kill brokers if asked, stop it.

Whatever happens in between (a fault, Ctrl-C, a signal to end), no broker is left when this returns.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import MeshError, UsageError
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh, MeshLink
from topicloom.mesh.run.adapter import BrokerAdapter
from topicloom.mesh.run.attack import NodeAttack, attack, check_attackable
from topicloom.mesh.run.cuts import BrokenLinks, break_links, links_named
from topicloom.mesh.run.detours import Detours, How
from topicloom.mesh.run.failover import NodeFailover, fail_over
from topicloom.mesh.run.free_ports import FreePorts
from topicloom.mesh.run.freeze import NodeFreeze, freeze
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.processes import BrokerProcesses
from topicloom.mesh.run.rate import FoundRate, find_rate
from topicloom.mesh.run.relocate import PortMap, Relocate, Route, bring_certificates, copy_mesh
from topicloom.mesh.run.resource_usage import (
    NodeUsage,
    measure_usage,
    open_connections,
    open_connections_per_node,
)
from topicloom.mesh.run.retained import RetainedProof, prove_retained
from topicloom.mesh.run.running_mesh import DeliveryProof, RunningMesh, RunSettings
from topicloom.mesh.run.signals import SignalGuard

ATTEMPTS = 5  # whole starts, each with new ports, when another program takes one of ours


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result of a run."""

    mesh: Mesh
    proof: DeliveryProof
    seconds_ready: float
    usage: list[NodeUsage]
    connections_open: Mapping[str, int]
    elsewhere: int  # links that stood at a backup from the beginning
    failover: tuple[NodeFailover, ...]
    frozen: tuple[NodeFreeze, ...] = ()
    attacks: tuple[NodeAttack, ...] = ()
    broken: tuple[BrokenLinks, ...] = ()
    rate: FoundRate | None = None
    retained: RetainedProof | None = None

    @property
    def cpu_seconds(self) -> float:
        return sum(one.cpu_seconds for one in self.usage)

    @property
    def memory_bytes(self) -> int:
        return sum(one.memory_bytes for one in self.usage)

    @property
    def exact(self) -> bool:
        held = all(one.held for one in self.failover) and all(one.held for one in self.frozen)
        held = held and all(one.held for one in self.attacks) and all(one.held for one in self.broken)
        held = held and (self.retained is None or not self.retained.wrong)
        return self.proof.verdict.exact and not self.proof.storm and held


def run_mesh(
    adapter: BrokerAdapter,
    folder: Path,
    relocate: Relocate,
    settings: RunSettings,
    *,
    progress: Progress = SILENT,
) -> RunOutcome:
    """Run the mesh whose files lie in `folder`, moved to this machine as its kind of broker asks for."""
    for attempt in range(1, ATTEMPTS + 1):
        with SignalGuard() as signals, tempfile.TemporaryDirectory(prefix="topicloom-run-") as scratch:
            work, logs = Path(scratch, "mesh"), Path(scratch, "logs")
            moved = _prepare(folder, work, logs, relocate, detours=bool(settings.cut or settings.stall))
            mesh, breaks = moved.mesh, _breaks(read_mesh(folder), settings)
            nodes_named(mesh, "kill", settings.kill)
            nodes_named(mesh, "freeze", settings.freeze)
            if settings.attack:
                nodes_named(mesh, "attack", settings.attack)
                check_attackable(adapter, mesh, mesh.kind)
            adapter.secrets = moved.secrets
            brokers = BrokerProcesses(work, logs, moved.secrets)
            try:
                return signals.run(_run(adapter, moved, work, brokers, settings, breaks, progress))
            except MeshError:
                if attempt == ATTEMPTS or not brokers.lost_a_port:
                    raise
    raise AssertionError("the last attempt returns or raises")


class _Moved(NamedTuple):
    """A mesh on this machine, and by what addresses its brokers call each other."""

    mesh: Mesh
    routes: Sequence[Route]
    secrets: frozenset[str]


def _breaks(mesh: Mesh, settings: RunSettings) -> list[tuple[How, list[MeshLink]]]:
    """Return what is done to which links."""
    asked: list[tuple[How, tuple[str, ...]]] = [("cut", settings.cut), ("stall", settings.stall)]
    return [(how, links_named(mesh, how, names)) for how, names in asked if names]


def _prepare(folder: Path, work: Path, logs: Path, relocate: Relocate, *, detours: bool) -> _Moved:
    """Copy the folder, and move the copy to this machine."""
    try:
        copy_mesh(folder, work)
        logs.mkdir()
        mesh = read_mesh(work)
        bring_certificates(work, mesh)
        ports = PortMap(mesh, FreePorts().take, detours=detours)
        mesh, configs, secrets = relocate(work, mesh, ports)
        for name, text in configs.items():
            (work / name).write_text(text)
    except OSError as error:  # of copying it is a list of faults, one for each file
        fault = error.args[0][0][2] if isinstance(error, shutil.Error) else error
        raise MeshError(f"cannot copy {folder} to {work.parent}: {fault}") from None
    return _Moved(mesh, ports.routes if detours else (), secrets)


def nodes_named(mesh: Mesh, option: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the nodes that an option names; `all` is every node, unless one is called so."""
    nodes = tuple(node.name for node in mesh.nodes)
    if "all" in names and "all" not in nodes:
        if set(names) != {"all"}:
            raise UsageError(f"`{option}=all`: that is every node already; leave the others out")
        return nodes
    for name in names:
        if name not in nodes:
            raise UsageError(f"`{option}={name}`: the mesh has no such node; name one, or all")
    return names


async def _run(
    adapter: BrokerAdapter,
    moved: _Moved,
    folder: Path,
    brokers: BrokerProcesses,
    settings: RunSettings,
    breaks: Sequence[tuple[How, list[MeshLink]]],
    progress: Progress,
) -> RunOutcome:
    mesh, detours = moved.mesh, Detours(moved.routes)
    with brokers, closing(detours):
        began = time.monotonic()
        await detours.open()
        running = RunningMesh(adapter, mesh, folder, brokers, settings, progress)
        progress.phase("start brokers", len(running.commands))
        await running.start()
        progress.phase("wait for links", len(mesh.links))
        elsewhere = await running.wait_in_place()
        inbox = Inbox(time.monotonic)
        clients = await running.connect(inbox.arrived)
        ready = time.monotonic() - began
        try:
            progress.phase("publish", settings.messages * len(mesh.topics))
            proof = await running.prove(settings.messages, clients, inbox)
            first = proof.verdict.published
            retained = None if proof.storm else await prove_retained(running, clients, first)
            usage = measure_usage(brokers.pids())
            sockets = open_connections_per_node(open_connections(mesh, brokers.pids()))
        finally:
            await clients.close()
        failed: list[NodeFailover] = []
        frozen: list[NodeFreeze] = []
        broken: list[BrokenLinks] = []
        if not proof.storm:
            kill = nodes_named(mesh, "kill", settings.kill)
            stop = nodes_named(mesh, "freeze", settings.freeze)
            progress.phase("break and mend", len(kill) + len(stop) + len(breaks))
            running.progress = SILENT  # its own steps are none of this phase's
            for node in kill:
                failed.append(await fail_over(running, node))
                progress.advance()
            for node in stop:
                frozen.append(await freeze(running, node))
                progress.advance()
            for how, links in breaks:
                broken.append(await break_links(running, detours, links, how))
                progress.advance()
        attacks = [
            await attack(running, node, folder) for node in nodes_named(mesh, "attack", settings.attack)
        ]
        return RunOutcome(
            mesh,
            proof,
            ready,
            usage,
            sockets,
            elsewhere,
            tuple(failed),
            tuple(frozen),
            tuple(attacks),
            tuple(broken),
            await find_rate(running) if settings.rate and not proof.storm else None,
            retained,
        )
