"""What the given folders are. One report is about one thing: builds of one interest, or one other result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import FORMAT
from topicloom.errors import InputError, UsageError
from topicloom.mesh.jobs.run import RunSummary
from topicloom.report.sources.builds import builds_in, read_overlays
from topicloom.report.sources.meshes import is_export, read_exported
from topicloom.report.sources.plans import is_problem, read_plan
from topicloom.report.sources.simulations import read_rounds, read_simulation
from topicloom.report.sources.subject import Subject
from topicloom.tables.folder import SUMMARY, read_head

KINDS = "a build, a comparison, a simulation, a content plan or an exported mesh"
BUILDS = ("build", "comparison")
MESH, PROBLEM = "exported mesh", "content problem"
SHOWN = {"content-plan": "content plan", "content-simulation": "simulation of content"}


def kind_of(folder: Path) -> str:
    """Return the kind of a folder that topicloom wrote; refuse any other."""
    if not folder.exists():
        raise InputError(f"there is no folder {folder}")
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; a report is made of folders: {KINDS}")
    if (folder / SUMMARY).is_file():
        head = read_head(folder / SUMMARY)
        if head is None:
            raise InputError(
                f"{folder / SUMMARY} is damaged: it does not say what it is; make the result again"
            )
        if head.format != FORMAT:
            raise InputError(f"{folder / SUMMARY}: format is {head.format}, this version reads {FORMAT}")
        return head.kind
    if is_export(folder):
        return MESH
    if is_problem(folder):
        return PROBLEM
    raise InputError(f"{folder} is none of the folders that topicloom writes: {KINDS}")


def read_subject(
    folders: Sequence[Path],
    *,
    hosts: Path | None = None,
    run: RunSummary | None = None,
    progress: Progress = SILENT,
) -> Subject:
    """Read what the folders are about; refuse a mix that cannot be compared."""
    if not folders:
        raise InputError(f"name at least one folder: {KINDS}")
    kinds = [kind_of(folder) for folder in folders]
    for field, given in (("hosts", hosts), ("run", run)):
        if given is not None and kinds != [MESH]:
            raise UsageError(f"`{field}` goes with one exported mesh")
    if all(kind in BUILDS for kind in kinds):
        builds = [
            build for folder, kind in zip(folders, kinds, strict=True) for build in builds_in(folder, kind)
        ]
        return read_overlays(list(dict.fromkeys(builds)), progress=progress)
    if len(kinds) == 2 and set(kinds) == {"content-plan", PROBLEM}:
        place = kinds.index("content-plan")
        return read_plan(folders[place], folders[1 - place])
    if len(folders) > 1:
        named = " and ".join(
            f"{folder} ({SHOWN.get(kind, kind)})" for folder, kind in zip(folders, kinds, strict=True)
        )
        raise InputError(f"{named} cannot be compared: give builds of one table, or one other result")
    if kinds[0] == "simulation":
        return read_simulation(folders[0], progress=progress)
    if kinds[0] == MESH:
        return read_exported(folders[0], hosts=hosts, run=run)
    if kinds[0] == "content-plan":
        return read_plan(folders[0])
    if kinds[0] == "content-simulation":
        return read_rounds(folders[0])
    if kinds[0] == PROBLEM:
        raise InputError(
            f"{folders[0]} is a content problem: plan it first, then give the plan and the problem"
        )
    raise InputError(f"{folders[0] / SUMMARY}: there is no report of kind {kinds[0]!r}; give {KINDS}")
