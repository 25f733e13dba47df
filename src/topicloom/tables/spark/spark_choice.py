"""Where Spark runs for a command, and what its user is told about the tables it reads."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.base.progress import SILENT, Progress
from topicloom.tables.source import TableSource
from topicloom.tables.spark.session import get_session, session_runs
from topicloom.tables.spark.settings import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Notice = Callable[[str], None]


def no_notice(text: str) -> None:
    """Ignore a notice."""


@dataclass(frozen=True, slots=True)
class SparkChoice:
    """Where Spark runs and how; nothing starts until a session is asked for."""

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False  # this process reads small inputs only

    def session(self, progress: Progress = SILENT) -> SparkSession:
        """Return the session of this process."""
        if not session_runs():
            progress.phase("start Spark")
        return get_session(master=self.master, conf=self.conf, quick=self.quick)

    @contextmanager
    def workspace(self, beside: Path | None = None) -> Iterator[Path]:
        """Give a folder for intermediate tables, removed afterwards.

        On a cluster the workers must reach it, so it lies beside the result, which they must reach anyway.
        """
        cluster = not is_local(self.master or self.conf.get("spark.master", "local"))
        parent = beside.absolute().parent if beside is not None and cluster else None
        if parent is not None:
            parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".topicloom-" if parent else "topicloom-", dir=parent))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def tell_refused(count: int, source: TableSource, notice: Notice) -> None:
    """Say that rows were refused, and how to learn more."""
    if count:
        rows = "row was" if count == 1 else "rows were"
        notice(f"{count:,} {rows} refused in {source.path}; `strict` names the first")
