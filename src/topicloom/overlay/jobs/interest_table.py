"""From the tables a user named to the interest that jobs work on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import is_build, read_summary
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.spark.encode import InterestRead, read_interest
from topicloom.tables.source import TableSource, check_there
from topicloom.tables.spark.raw_table import RawTable, require_no_rejects
from topicloom.tables.spark.read import read_table
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice, tell_refused


@dataclass(frozen=True, slots=True, eq=False)
class LoadedInterest:
    """An interest in memory and what there is to say about its table."""

    interest: Interest
    digest: str
    duplicates: int = 0
    rejected: int = 0
    raw: RawTable | None = None  # for its rejects


def load_interest(read: InterestRead, progress: Progress) -> LoadedInterest:
    """Load an interest that was read into memory."""
    progress.phase("load interest")
    found = read.encoded
    return LoadedInterest(found.to_interest(), found.digest, found.duplicates, found.rejected, read.raw)


@dataclass(frozen=True, slots=True)
class InterestTable:
    """A user's interest table and how it is read; `notice` hears what the user must not miss about it."""

    source: TableSource
    spark: SparkChoice
    subscribers_only: bool = False
    strict: bool = False
    notice: Notice = no_notice
    progress: Progress = SILENT

    def encode(self, work: Path, notice: Notice | None = None) -> InterestRead:
        """Read it as tables of numbers below `work`."""
        source, notice = self.source, notice or self.notice
        check_there(source)
        read = read_interest(
            self.spark.session(self.progress),
            source,
            subscribers_only=self.subscribers_only,
            strict=self.strict,
            work_dir=work,
            progress=self.progress,
        )
        if read.raw.notice:
            notice(read.raw.notice)
        encoded = read.encoded
        tell_refused(encoded.rejected, source, notice)
        if encoded.rejected > encoded.n_subscriptions + encoded.duplicates:
            notice(
                f"most rows of {source.path} were refused: check {source.options.separator} and "
                f"{source.options.no_header}"
            )
        return read

    def load(self) -> LoadedInterest:
        """Read it into memory."""
        with self.spark.workspace() as work:
            return load_interest(self.encode(work), self.progress)

    def read_told(self, source: TableSource) -> RawTable:
        """Read the rows of this table or of one that goes with it; the user hears what there is to know."""
        check_there(source)
        raw = read_table(self.spark.session(self.progress), source, progress=self.progress)
        if raw.notice:
            self.notice(raw.notice)
        refused = raw.n_rejects(progress=self.progress)
        if self.strict:
            require_no_rejects(raw, refused)
        tell_refused(refused, source, self.notice)
        return raw


def check_agreement(edges: TableSource, interest: TableSource, digest: str) -> None:
    """Refuse a build that was made for another interest than the one given."""
    folder = Path(edges.path)
    if not is_build(folder):
        return
    expected = read_summary(folder).interest_digest
    if expected != digest:
        raise InputError(
            f"build {edges.path} was made for another interest than {interest.path} "
            f"({expected} against {digest}); give the interest it was made for, or the build itself twice"
        )
