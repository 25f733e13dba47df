"""From the tables a user named to the interest that jobs work on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import is_build, read_summary
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.overlay.spark.ingest import read_interest
from topicloom.tables.source import TableSource, check_there
from topicloom.tables.spark.raw_table import RawTable, require_no_rejects, write_rejects
from topicloom.tables.spark.read import read_table
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice, tell_refused
from topicloom.tables.spark.table_files import signature


@dataclass(frozen=True, slots=True, eq=False)
class LoadedInterest:
    """An interest in memory and what ingest has to say about its table."""

    interest: Interest
    digest: str
    duplicates: int = 0
    rejected: int = 0
    raw: RawTable | None = None

    @property
    def n_nodes(self) -> int:
        return self.interest.n_nodes

    @property
    def n_topics(self) -> int:
        return self.interest.n_topics

    @property
    def n_subscriptions(self) -> int:
        return self.interest.n_subscriptions

    def write_rejects(self, path: Path) -> None:
        """The refused rows with their reasons."""
        if self.raw is not None:
            write_rejects(self.raw, path)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedInput:
    """A user's interest as numbered tables, and the raw one for its rejects."""

    encoded: EncodedInterest
    raw: RawTable
    files: list[list[str | int]]  # the files it was read from, as they were before

    def load(self, progress: Progress) -> LoadedInterest:
        """All of it in memory."""
        progress.phase("load interest")
        return LoadedInterest(
            interest=self.encoded.to_interest(),
            digest=self.encoded.digest,
            duplicates=self.encoded.duplicates,
            rejected=self.encoded.rejected,
            raw=self.raw,
        )


@dataclass(frozen=True, slots=True)
class InterestTable:
    """A user's interest table and how it is read; `notice` hears what the user must not miss about it."""

    source: TableSource
    spark: SparkChoice
    subscribers_only: bool = False
    strict: bool = False
    notice: Notice = no_notice
    progress: Progress = SILENT

    def encode(self, work: Path, notice: Notice | None = None) -> EncodedInput:
        """As tables of numbers below `work`."""
        source, notice = self.source, notice or self.notice
        check_there(source)
        session = self.spark.session(self.progress)
        files = signature(session, source)
        found = read_interest(
            session,
            source,
            subscribers_only=self.subscribers_only,
            strict=self.strict,
            work_dir=work,
            progress=self.progress,
        )
        if found.notice:
            notice(found.notice)
        encoded = found.encoded
        tell_refused(encoded.rejected, source, notice)
        if encoded.rejected > encoded.n_subscriptions + encoded.duplicates:
            notice(
                f"most rows of {source.path} were refused: check {source.options.separator} and "
                f"{source.options.no_header}"
            )
        return EncodedInput(encoded, found.raw, files)

    def load(self) -> LoadedInterest:
        """As arrays in memory."""
        with self.spark.workspace() as work:
            return self.encode(work).load(self.progress)

    def read_told(self, source: TableSource) -> RawTable:
        """Its rows, or those of a table that goes with it; what the user must know about them is told."""
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
