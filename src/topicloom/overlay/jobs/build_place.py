"""Where a build is written and becomes whole: a folder of this machine, or one behind an address.

`place_of` is the only one to ask which; jobs speak to a `BuildPlace`. What a place looks like inside:
`overlay/model/run_folder.py` and `overlay/spark/run_address.py`. A build that is written nowhere stays with
Spark's executors: `KeptBuild`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow.parquet as pq

from topicloom.base.addresses import is_address
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import UsageError
from topicloom.overlay.model.build import BuildHead, BuildSummary
from topicloom.overlay.model.build_folder import (
    EDGES,
    INTEREST,
    PHASES,
    check_replaceable,
    decode_summary,
    is_build,
    read_summary,
    whole_phases,
)
from topicloom.overlay.model.run import Request, Run, Told
from topicloom.overlay.model.run_folder import check_same_here, open_run
from topicloom.overlay.spark.run_address import (
    check_request,
    check_usable,
    open_run_at,
    publish,
    read_finished,
    read_records,
    tidy,
)
from topicloom.overlay.spark.run_kept import KeptRun
from topicloom.tables.folder import REJECTS
from topicloom.tables.spark.kept_place import KeptStore
from topicloom.tables.spark.links import require_files
from topicloom.tables.spark.remote_files import RemoteFolder
from topicloom.tables.spark.session import arrow_frame
from topicloom.tables.spark.spark_choice import SparkChoice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

S = TypeVar("S", BuildHead, BuildSummary)


class BuildPlace(Protocol):
    """The folder of a build; as a text it is what the user calls it."""

    @property
    def local(self) -> Path | None:
        """Return the folder, if it is one of this machine."""

    def check(self, *, resume: bool) -> None:
        """Refuse to lose what is there: anything but an earlier result, or a run that is to be resumed."""

    def unfinished(self) -> bool:
        """Return whether there is a run to be taken up."""

    def finished(self, kind: type[S]) -> S | None:
        """Return the summary of a finished build, where there is no run to be taken up."""

    def check_same(self, request: Request, *, parts: bool = False) -> None:
        """Refuse to take up the unfinished run for another request, or for other `parts` of one."""

    def open_run(
        self, request: Request, *, resume: bool, now: Callable[[], float], told: Told
    ) -> AbstractContextManager[Run]:
        """Open a run in phases, a new one or the unfinished one."""

    def result(self) -> AbstractContextManager[Path]:
        """Give the path of a folder of this machine that a whole build is written to."""

    def publish(self, folder: Path, summary: BuildSummary) -> BuildSummary:
        """Make that folder the result; return its summary."""


@dataclass(slots=True)
class KeptBuild:
    """A build whose tables stay with Spark; `frames` are those of the result."""

    session: SparkSession
    shown: str
    frames: dict[str, DataFrame] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.shown

    @property
    def local(self) -> Path | None:
        return None

    def check(self, *, resume: bool) -> None:
        if resume:
            raise UsageError("`resume` goes on with the unfinished build in `out`: give that too")

    def unfinished(self) -> bool:
        return False

    def finished(self, kind: type[S]) -> S | None:
        return None

    def check_same(self, request: Request, *, parts: bool = False) -> None:
        """Do nothing: there is never an unfinished run."""

    @contextmanager
    def open_run(
        self, request: Request, *, resume: bool, now: Callable[[], float], told: Told
    ) -> Iterator[Run]:
        store = KeptStore()
        try:
            run = KeptRun(store, self.shown, now, told)
            yield run
            self.frames = {name: store.take(path) for name, path in run.tables.items()}
        finally:
            store.release()

    @contextmanager
    def result(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="topicloom-") as folder:
            yield Path(folder) / "build"

    def publish(self, folder: Path, summary: BuildSummary) -> BuildSummary:
        for name in (EDGES, INTEREST, REJECTS):
            if (folder / name).exists():
                self.frames[name] = arrow_frame(self.session, pq.read_table(folder / name))
        return summary


def place_of(out: str | Path, spark: SparkChoice, progress: Progress = SILENT) -> BuildPlace:
    """Return the place that the user has named."""
    if is_address(str(out)):
        return _Remote(str(out).rstrip("/"), spark, progress)
    return _Here(Path(out))


@dataclass(frozen=True, slots=True)
class _Here:
    folder: Path

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def local(self) -> Path | None:
        return self.folder

    def check(self, *, resume: bool) -> None:
        check_replaceable(self.folder, resume=resume)

    def unfinished(self) -> bool:
        return bool(whole_phases(self.folder / PHASES))

    def finished(self, kind: type[S]) -> S | None:
        if not is_build(self.folder) or self.unfinished():
            return None
        return read_summary(self.folder, kind)

    def check_same(self, request: Request, *, parts: bool = False) -> None:
        check_same_here(self.folder, request, parts=parts)

    def open_run(
        self, request: Request, *, resume: bool, now: Callable[[], float], told: Told
    ) -> AbstractContextManager[Run]:
        return open_run(self.folder, request, resume=resume, now=now, told=told)

    @contextmanager
    def result(self) -> Iterator[Path]:
        yield self.folder  # whoever writes it changes places with what is there

    def publish(self, folder: Path, summary: BuildSummary) -> BuildSummary:
        return summary


@dataclass(frozen=True, slots=True)
class _Remote:
    address: str
    spark: SparkChoice
    progress: Progress

    def __str__(self) -> str:
        return self.address

    @property
    def local(self) -> Path | None:
        return None

    @property
    def folder(self) -> RemoteFolder:
        return RemoteFolder(self.spark.session(self.progress), self.address)

    def check(self, *, resume: bool) -> None:
        require_files(self.spark.session(self.progress), self.address)
        if not resume or read_finished(self.folder) is None:
            check_usable(self.folder, resume=resume)

    def unfinished(self) -> bool:
        return read_finished(self.folder) is None and bool(read_records(self.folder))

    def finished(self, kind: type[S]) -> S | None:
        content = read_finished(self.folder)
        if content is None:
            return None
        found = decode_summary(content, self.address, kind)
        tidy(self.folder, set((found.tables or {}).values()))  # a run may have been killed before it did so
        return found

    def check_same(self, request: Request, *, parts: bool = False) -> None:
        check_request(self.folder, request, parts=parts)

    def open_run(
        self, request: Request, *, resume: bool, now: Callable[[], float], told: Told
    ) -> AbstractContextManager[Run]:
        return open_run_at(self.folder, request, resume=resume, now=now, told=told)

    @contextmanager
    def result(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="topicloom-") as folder:
            yield Path(folder) / "build"

    def publish(self, folder: Path, summary: BuildSummary) -> BuildSummary:
        check_usable(self.folder, resume=False)
        return publish(self.folder, folder, summary)
