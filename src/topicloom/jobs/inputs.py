"""From what the user named to what the jobs work on: the Spark session, an interest, an overlay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.errors import InputError
from topicloom.files.build_folder import is_build, read_summary
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Progress
from topicloom.spark.encode import EncodedInterest, encode_interest
from topicloom.spark.ingest import read_table
from topicloom.spark.raw import RawTable, require_no_rejects, write_rejects
from topicloom.spark.session import get_session
from topicloom.spark.source import TableSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Notice = Callable[[str], None]


def no_notice(text: str) -> None:
    """Where nobody listens."""


@dataclass(frozen=True, slots=True)
class SparkChoice:
    """Where Spark runs and how; nothing starts until a session is asked for."""

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)

    def session(self, progress: Progress = SILENT) -> SparkSession:
        """The session of this process."""
        progress.phase("start Spark")
        return get_session(master=self.master, conf=self.conf)

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A folder for intermediate tables, removed afterwards."""
        folder = Path(tempfile.mkdtemp(prefix="topicloom-"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, eq=False)
class LoadedInterest:
    """An interest in memory and what ingest has to say about its table."""

    interest: Interest
    digest: str
    duplicates: int = 0
    rejected: int = 0
    raw: RawTable | None = None

    def write_rejects(self, path: Path) -> None:
        """The refused rows with their reasons."""
        if self.raw is not None:
            write_rejects(self.raw, path)


def encode_table(
    source: TableSource,
    *,
    spark: SparkChoice,
    work: Path,
    subscribers_only: bool = False,
    strict: bool = False,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> tuple[RawTable, EncodedInterest]:
    """Read and number an interest table on Spark."""
    session = spark.session(progress)
    raw = read_table(session, source, progress=progress)
    if raw.notice:
        notice(raw.notice)
    if strict:
        require_no_rejects(raw, raw.n_rejects(progress=progress))
    encoded = encode_interest(
        session, raw, work_dir=work, subscribers_only=subscribers_only, progress=progress
    )
    return raw, encoded


def load_interest(
    source: TableSource,
    *,
    spark: SparkChoice,
    work: Path,
    subscribers_only: bool = False,
    strict: bool = False,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> LoadedInterest:
    """An interest table as arrays in memory."""
    raw, encoded = encode_table(
        source,
        spark=spark,
        work=work,
        subscribers_only=subscribers_only,
        strict=strict,
        notice=notice,
        progress=progress,
    )
    progress.phase("load interest")
    return LoadedInterest(
        interest=encoded.to_interest(),
        digest=encoded.digest,
        duplicates=encoded.duplicates,
        rejected=encoded.rejected,
        raw=raw,
    )


def check_agreement(edges: TableSource, interest: TableSource, digest: str) -> None:
    """Refuse a build that was made for another interest than the one given."""
    folder = Path(edges.path)
    if not is_build(folder):
        return
    expected = read_summary(folder)["interest_digest"]
    if expected != digest:
        raise InputError(
            f"build {edges.path} was made for another interest than {interest.path} "
            f"({expected} against {digest}); give the interest it was made for, or the build itself twice"
        )
