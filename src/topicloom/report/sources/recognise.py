"""What the given folders are. One report is about one thing: builds of one interest, or one other result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import FORMAT
from topicloom.errors import InputError
from topicloom.report.sources.builds import builds_in, read_overlays
from topicloom.report.sources.subject import Subject
from topicloom.tables.folder import SUMMARY, read_head

KINDS = "a build, a comparison, a simulation, a content plan or an exported mesh"
BUILDS = ("build", "comparison")


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
    raise InputError(f"{folder} is none of the folders that topicloom writes: {KINDS}")


def read_subject(folders: Sequence[Path], *, progress: Progress = SILENT) -> Subject:
    """Read what the folders are about; refuse a mix that cannot be compared."""
    if not folders:
        raise InputError(f"name at least one folder: {KINDS}")
    kinds = {folder: kind_of(folder) for folder in folders}
    if all(kind in BUILDS for kind in kinds.values()):
        builds = [build for folder, kind in kinds.items() for build in builds_in(folder, kind)]
        return read_overlays(builds, progress=progress)
    raise InputError(f"{folders[0]}: a report cannot be made of a folder of kind {kinds[folders[0]]!r}")
