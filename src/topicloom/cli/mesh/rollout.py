"""`topicloom mesh rollout`: the files that lead from a mesh in use to a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from topicloom.base.progress import Progress
from topicloom.cli.console import Screen
from topicloom.cli.options import EngineOptions, ReadingOptions
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.mesh.jobs.rollout import NewInterest, RolloutSummary

EXAMPLES = """
topicloom mesh rollout brokers table.csv --out change
topicloom mesh rollout brokers new-overlay --drop-up-to 5 --out change
topicloom mesh rollout change/phase2 brokers --out back          (a mesh as it is: the way back)
topicloom run mosquitto brokers --rollout change                 (on real brokers, with traffic)
"""


@dataclass(frozen=True, slots=True)
class NewTable(ReadingOptions):
    """How to read NEW where it is a table."""

    PANEL: ClassVar[str] = "New table"


def rollout(
    screen: Screen,
    table: NewTable,
    spark: EngineOptions,
    old: Annotated[
        Path | None, typer.Argument(help="The mesh in use: a folder of `topicloom export`.")
    ] = None,
    new: Annotated[
        Path | None,
        typer.Argument(help="What it is to become: a table, a build, or another exported mesh."),
    ] = None,
    out: Annotated[Path | None, "Folder to write."] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV with columns node, host, maybe port; for new nodes."),
    ] = None,
    credentials: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV with columns node, user, password; made up for new nodes if not given."
        ),
    ] = None,
    drop_up_to: Annotated[
        int, typer.Option(metavar="K", help="Old links that need not stay, where topics can do without.")
    ] = 0,
    filters: Annotated[bool, "Topics with wildcards stand for all names that they match."] = False,
    literal: Annotated[
        bool, "Topics with wildcards are names by themselves, escaped at the brokers."
    ] = False,
    open_: Annotated[
        bool, "New brokers on other machines let everybody in, where OLD has no logins."
    ] = False,
    overwrite: Annotated[
        bool, "Go on although files of OLD, or in DIR, were edited, or OLD or NEW lie in DIR."
    ] = False,
) -> None:
    """Write the files that lead from a mesh in use to a new one, in two phases.

    Topics that did not change keep their links. Phase 1 leaves what both meshes have, phase 2 adds what is
    new: in any order of restarts, no message can go round. rollout.json says what is touched.
    """
    from topicloom.mesh.jobs.rollout import RolloutOptions, plan_rollout
    from topicloom.mesh.model.manifest import MANIFEST
    from topicloom.overlay.model.build_folder import is_build

    if old is None or (new is None and not table.named):
        raise UsageError("OLD or NEW is missing; write topicloom mesh rollout OLD NEW --out DIR")
    if out is None:
        raise UsageError("--out is missing; name the folder to write")
    # A build says which pairs may be linked, and so does a mesh. A table does not.
    free = new is None or table.named or not is_build(new)
    options = RolloutOptions(
        hosts,
        credentials,
        drop_up_to,
        overwrite,
        free=free,
        filters=filters,
        literal=literal,
        open_=open_,
    )
    with screen.working() as progress:
        whole = new is not None and not table.named and (new / MANIFEST).is_file()
        target = new if new and whole else _wanted(old, new, table, spark, screen, progress)
        summary = plan_rollout(old, target, out=out, options=options, notice=screen.notice, progress=progress)
    screen.report(summary, *_told(summary))


def _wanted(
    old: Path, new: Path | None, table: NewTable, spark: EngineOptions, screen: Screen, progress: Progress
) -> NewInterest:
    """Read a build, or a table and build it from the links of the old mesh."""
    from topicloom.mesh.jobs.rollout import NewInterest, old_edges
    from topicloom.overlay.jobs.build_request import BuildRequest
    from topicloom.overlay.model.build_folder import is_build, load_build, read_interest

    if new is not None and not table.named and is_build(new):
        return NewInterest(read_interest(new), load_build(new, interest=False).overlay)
    source = table.source_at(str(new or ""), "NEW")
    read = table.table_of(source, spark.choice_of(source), screen, progress)
    interest = read.load().interest
    request = replace(BuildRequest.of(None, []), start=old_edges(old, interest)).settled(interest)
    return NewInterest(interest, request.run(interest, progress).overlay)


def _told(summary: RolloutSummary) -> Iterator[str]:
    for number, (phase, nodes) in enumerate(summary.brokers_touched.items(), 1):
        does = "takes away what the new mesh has not" if number == 1 else "adds what is new"
        if not nodes:
            yield f"phase {number} {does}: nothing to do"
            continue
        light = len(summary.brokers_reloaded.get(phase, ()))
        what = f"reload {light:,} and restart" if light else "restart"
        yield (
            f"phase {number} {does}: copy {summary.out}/{phase}, then {what} {len(nodes) - light:,} brokers"
        )
        yield from (f"  {node}{_fate(summary, node, number)}" for node in nodes)
    yield (
        f"{len(summary.links_added):,} links added, {len(summary.links_dropped):,} dropped; "
        f"{len(summary.topics_interrupted):,} topics interrupted, {len(summary.topics_split):,} of them "
        "split for a while"
    )
    if summary.topics_moved:
        yield f"clients of these topics must log in to another account: {', '.join(summary.topics_moved[:5])}"
    yield f"proved: no loop in any of {summary.states_checked:,} states, all prefixes and random orders"
    yield f"written to {summary.out}"


def _fate(summary: RolloutSummary, node: str, number: int) -> str:
    if node in summary.brokers_reloaded.get(f"phase{number}", ()):
        return " (reload: a hangup signal)"
    if node in summary.brokers_added:
        return " (new: start it)"
    return " (stop it)" if number == 2 and node in summary.brokers_removed else ""
