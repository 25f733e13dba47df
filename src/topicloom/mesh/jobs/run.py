"""Run an exported mesh on this machine and summarise the result."""

from __future__ import annotations

from pathlib import Path

import msgspec

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Summary
from topicloom.errors import InputError, UsageError
from topicloom.mesh.jobs.rollout import PHASES, ROLLOUT, RolloutSummary
from topicloom.mesh.kinds.registry import find_running, load_adapter, runnable
from topicloom.mesh.model.config_files import refuse_doubled, refusing_depth
from topicloom.mesh.model.manifest import check_whole, read_mesh
from topicloom.mesh.model.mesh import Mesh, connections_per_node, hops_max
from topicloom.mesh.plan.certificates import try_certificates
from topicloom.mesh.rollout.new_mesh import stems_of
from topicloom.mesh.rollout.sound import fault_of_plan
from topicloom.mesh.run.adapter import Arrival, Stray
from topicloom.mesh.run.attack import NodeAttack
from topicloom.mesh.run.cuts import BrokenLinks, links_named
from topicloom.mesh.run.delivery import MissingDelivery
from topicloom.mesh.run.failover import NodeFailover
from topicloom.mesh.run.freeze import NodeFreeze
from topicloom.mesh.run.latency import Latency
from topicloom.mesh.run.lifecycle import RunOutcome, nodes_named, run_mesh
from topicloom.mesh.run.rate import FoundRate
from topicloom.mesh.run.resource_usage import NodeUsage
from topicloom.mesh.run.retained import RetainedProof
from topicloom.mesh.run.rollout_play import PlayedRollout, RolloutPlan, play_rollout
from topicloom.mesh.run.running_mesh import RunSettings


class RunSummary(Summary, frozen=True, kw_only=True):
    """What `run --json` prints."""

    kind: str
    nodes: int
    links: int
    connections_per_node_max: int
    topics: int
    published: int
    expected: int
    delivered: int
    duplicates: int
    strays: int
    seconds_ready: float
    hops_max: int
    tls: bool
    storm: bool
    exact: bool
    connections_open_max: int
    connections_open: int
    links_at_backups: int
    seconds_deliver: float
    cpu_seconds: float
    cpu_seconds_deliver: float
    messages_carried: int | None
    memory_bytes: int
    usage: list[NodeUsage]
    missing: tuple[MissingDelivery, ...]
    duplicate_witnesses: tuple[Arrival, ...]
    stray_witnesses: tuple[Stray, ...]
    failover: tuple[NodeFailover, ...]
    frozen: tuple[NodeFreeze, ...]
    attacks: tuple[NodeAttack, ...]
    broken: tuple[BrokenLinks, ...]
    latency: Latency
    rate: FoundRate | None
    retained: RetainedProof | None


def run_folder(kind: str, folder: Path, settings: RunSettings, *, progress: Progress = SILENT) -> RunSummary:
    """Start the mesh of an exported folder, prove it, stop it; return what came of it."""
    running = find_running(kind)
    mesh = read_kind(kind, folder)
    nodes_named(mesh, "kill", settings.kill)
    nodes_named(mesh, "freeze", settings.freeze)
    for option in ("cut", "stall"):
        links_named(mesh, option, getattr(settings, option))
        if getattr(settings, option) and (settings.kill or settings.freeze):
            raise UsageError(f"`{option}` goes without `kill` and `freeze`; run the command twice")
    if settings.kill and running.kill is not None:
        able = [name for name, other in runnable().items() if other.kill is None]
        raise UsageError(f"`kill` goes with {' and '.join(able)}: {running.kill.why}")
    _check_certificates(mesh)
    outcome = run_mesh(load_adapter(kind), folder, running.relocate, settings, progress=progress)
    return _summary(kind, outcome)


def run_rollout(
    kind: str,
    folder: Path,
    change: Path,
    settings: RunSettings,
    *,
    turn_back: bool = False,
    progress: Progress = SILENT,
) -> PlayedRollout:
    """Play the roll-out of `mesh rollout` from the mesh of a folder; return what came of it.

    With `turn_back` it stops in the middle of the second phase and returns to the old mesh.
    """
    running = find_running(kind)
    for option in ("kill", "freeze", "attack", "cut", "stall", "rate"):
        if getattr(settings, option):
            raise UsageError(f"`rollout` and `{option}` do not go together; run the command twice")
    read_kind(kind, folder)
    path = change / ROLLOUT
    try:
        with refusing_depth(str(path)):
            found = msgspec.json.decode(path.read_bytes(), type=RolloutSummary)
    except OSError as error:
        raise InputError(
            f"`rollout={change}` is no roll-out: cannot read {ROLLOUT} ({error.strerror})"
        ) from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{path} is damaged; plan the roll-out again") from None
    refuse_doubled(path.read_bytes(), str(path))
    plan = RolloutPlan(
        (folder, *(change / phase for phase in PHASES)),
        tuple(tuple(found.brokers_touched.get(phase, ())) for phase in PHASES),
        frozenset(found.topics_interrupted),
        frozenset(found.topics_moved),
        frozenset(found.topics_split),
        turn_back=turn_back,
        reloaded=tuple(tuple(found.brokers_reloaded.get(phase, ())) for phase in PHASES),
    )
    meshes = []
    for one in plan.folders:
        meshes.append(read_kind(kind, one))
        _check_certificates(meshes[-1])
    fault = fault_of_plan(meshes, plan.folders, plan.touched, found.brokers_reloaded)
    if fault:
        raise InputError(f"{path} is damaged: {fault}; plan the roll-out again")
    return play_rollout(load_adapter(kind), plan, running.relocate, settings, progress=progress)


def _check_certificates(mesh: Mesh) -> None:
    """Try the certificates of a mesh: on the loopback brokers cannot check the names of hosts."""
    if "tls" in mesh.options:
        stems = stems_of(mesh)
        try_certificates(Path(mesh.options["tls"]), {stems[node.name]: node.host for node in mesh.nodes})


def read_kind(kind: str, folder: Path) -> Mesh:
    """Read the mesh of an exported folder; refuse one of another kind."""
    mesh = read_mesh(folder)
    if mesh.kind != kind:
        find_running(mesh.kind)
        raise InputError(
            f"{folder} was exported for {mesh.kind}; run it with: topicloom run {mesh.kind} {folder}"
        )
    check_whole(folder)
    return mesh


def _summary(kind: str, outcome: RunOutcome) -> RunSummary:
    mesh, proof, verdict = outcome.mesh, outcome.proof, outcome.proof.verdict
    return RunSummary(
        kind=kind,
        nodes=len(mesh.nodes),
        links=len(mesh.links),
        connections_per_node_max=max(connections_per_node(mesh).values(), default=0),
        topics=len(mesh.topics),
        published=verdict.published,
        expected=verdict.expected,
        delivered=verdict.delivered,
        duplicates=verdict.duplicates,
        strays=verdict.strays,
        seconds_ready=outcome.seconds_ready,
        hops_max=hops_max(mesh),
        tls="tls" in mesh.options,
        storm=proof.storm,
        exact=outcome.exact,
        connections_open_max=max(outcome.connections_open.values(), default=0),
        connections_open=sum(outcome.connections_open.values()) // 2,
        links_at_backups=outcome.elsewhere,
        seconds_deliver=proof.seconds,
        cpu_seconds=outcome.cpu_seconds,
        cpu_seconds_deliver=proof.cpu_seconds,
        messages_carried=proof.carried,
        memory_bytes=outcome.memory_bytes,
        usage=outcome.usage,
        missing=verdict.missing,
        duplicate_witnesses=verdict.duplicate_witnesses,
        stray_witnesses=verdict.stray_witnesses,
        failover=outcome.failover,
        frozen=outcome.frozen,
        attacks=outcome.attacks,
        broken=outcome.broken,
        latency=proof.latency,
        rate=outcome.rate,
        retained=outcome.retained,
    )
