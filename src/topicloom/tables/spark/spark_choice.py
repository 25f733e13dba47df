"""Who reads the tables of a command, where Spark runs, and what the user is told about the tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import UsageError
from topicloom.tables.local.limits import LIMIT, too_large
from topicloom.tables.local.read import LocalReader
from topicloom.tables.reader import TableReader
from topicloom.tables.refused import RefusedRows, refused_told
from topicloom.tables.source import TableSource
from topicloom.tables.spark.links import check_version, shares_disk
from topicloom.tables.spark.scratch import new_scratch, remove_scratch
from topicloom.tables.spark.session import get_session, session_folder, session_runs
from topicloom.tables.table_files import is_own

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Notice = Callable[[str], None]
ENGINES = ("auto", "local", "spark")


def no_notice(text: str) -> None:
    """Ignore a notice."""


@dataclass(frozen=True, slots=True)
class SparkChoice:
    """Who reads tables, where Spark runs and how; nothing starts until a session is asked for.

    The engine `local` reads what is small enough in this process, `auto` does so with folders that we wrote
    unless something is said about Spark. A session that is `given` is the caller's: nothing is set in it.
    """

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False  # this process reads small inputs only
    engine: str = "auto"
    given: SparkSession | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise UsageError(f"`engine={self.engine}`: it is one of {', '.join(ENGINES)}")
        if self.given is not None:
            check_version(self.given)

    def reads_here(self, *sources: TableSource, notice: Notice = no_notice) -> bool:
        """Return whether all these tables are read in this process; `notice` hears why one is not."""
        if self.engine == "local":
            reason = next(filter(None, map(too_large, sources)), "")
            if reason:
                notice(f"`engine=local` is for {LIMIT}: {reason}, so Spark reads it")
            return not reason
        asked = self.engine == "spark" or self.master is not None or bool(self.conf)
        return not asked and all(is_own(source) and not too_large(source) for source in sources)

    def reader(
        self, *sources: TableSource, notice: Notice = no_notice, progress: Progress = SILENT
    ) -> TableReader:
        """Return who reads these tables."""
        from topicloom.tables.spark.read import SparkReader

        if self.reads_here(*sources, notice=notice):
            return LocalReader()
        return SparkReader(self.session(progress), collect=self.engine != "spark")

    def session(self, progress: Progress = SILENT) -> SparkSession:
        """Return the session that is given, or that of this process."""
        if self.given is not None:
            return self.given
        if not session_runs():
            progress.phase("start Spark")
        return get_session(master=self.master, conf=self.conf, quick=self.quick)

    @contextmanager
    def workspace(
        self, beside: Path | None = None, *, starts: bool = True, progress: Progress = SILENT
    ) -> Iterator[Path]:
        """Give a folder for intermediate tables, removed afterwards; with `starts` a session starts for it.

        It lies in the folder of the session. On a cluster the workers must reach it, so there it lies beside
        the result, which they must reach anyway.
        """
        session = self.session(progress) if starts or session_runs() else None
        if session is not None and beside is not None and not shares_disk(session):
            parent = beside.absolute().parent
            parent.mkdir(parents=True, exist_ok=True)
            folder = new_scratch(parent)
        elif session is None or self.given is not None:
            folder = new_scratch()
        else:
            folder = Path(tempfile.mkdtemp(prefix="work-", dir=session_folder(session)))
        try:
            yield folder
        finally:
            remove_scratch(folder)


def tell_refused(refused: RefusedRows, source: TableSource, notice: Notice) -> None:
    """Say that rows were refused, why, and what helps."""
    if refused.kinds:
        notice(refused_told(refused, source))
