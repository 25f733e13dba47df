"""From the tables a user named to the interest that jobs work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.addresses import is_address
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError, RefusedInputError
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.build import BuildHead
from topicloom.overlay.model.build_folder import decode_summary, is_build, read_summary
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.merge_pairs import number_small
from topicloom.overlay.spark.encode import InterestRead, no_rows, read_interest
from topicloom.tables.first_look import check_there
from topicloom.tables.folder import SUMMARY
from topicloom.tables.local.limits import collects
from topicloom.tables.local.read import LocalReader
from topicloom.tables.local.table import LocalTable
from topicloom.tables.reader import TableRead, require_no_rejects
from topicloom.tables.refused import NONE_REFUSED, RefusedRows
from topicloom.tables.source import TableSource
from topicloom.tables.spark.links import shares_disk
from topicloom.tables.spark.raw_table import RawTable
from topicloom.tables.spark.read import COLLECTED_BYTES, collect_rows, collect_table, read_table
from topicloom.tables.spark.remote_files import RemoteFolder
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice, tell_refused

PAIR = ["node", "topic"]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedInterest:
    """An interest in memory and what there is to say about its table."""

    interest: Interest
    digest: str
    duplicates: int = 0
    refused: RefusedRows = NONE_REFUSED
    raw: TableRead | None = None  # for its rejects
    here: bool = False  # read in this process, and to be proved there

    @property
    def rejected(self) -> int:
        """How many rows were refused."""
        return self.refused.rows


def is_small(loaded: LoadedInterest) -> bool:
    """Return whether it was read at once: then it is proved so too."""
    return isinstance(loaded.raw, LocalTable)


def load_interest(read: InterestRead, progress: Progress) -> LoadedInterest:
    """Load an interest that was read into memory."""
    progress.phase("load interest")
    found = read.encoded
    return LoadedInterest(found.to_interest(), found.digest, found.duplicates, found.refused, read.raw)


@dataclass(frozen=True, slots=True)
class InterestTable:
    """A user's interest table and how it is read; `notice` hears what the user must not miss about it."""

    source: TableSource
    spark: SparkChoice
    subscribers_only: bool = False
    strict: bool = False
    notice: Notice = no_notice
    progress: Progress = SILENT

    @contextmanager
    def opened(self) -> Iterator[RawTable]:
        """Give it as Spark has read it, once for all that follows; it is released at the end."""
        check_there(self.source)
        raw = read_table(self.spark.session(self.progress), self.source, progress=self.progress)
        try:
            yield raw
        finally:
            raw.release()

    def encode(
        self,
        work: str | Path,
        notice: Notice | None = None,
        *,
        raw: RawTable | None = None,
        signed: bool = False,
    ) -> InterestRead:
        """Read it as tables of numbers below `work`, or take the `raw` table that was read.

        If it is no file, `signed` asks for what tells its rows from others.
        """
        source, notice = self.source, notice or self.notice
        check_there(source)
        read = read_interest(
            self.spark.session(self.progress),
            source,
            raw=raw,
            signed=signed,
            subscribers_only=self.subscribers_only,
            strict=self.strict,
            work_dir=work,
            progress=self.progress,
        )
        try:
            self._tell(read.raw, read.encoded.refused, notice)
        except BaseException:  # a warning may be an error
            read.raw.release()
            raise
        return read

    def _tell(self, raw: TableRead, refused: RefusedRows, notice: Notice) -> None:
        if raw.notice:
            notice(raw.notice)
        tell_refused(refused, self.source, notice)

    def reads_here(self) -> bool:
        """Return whether it is read in this process, without Spark."""
        check_there(self.source)
        return self.spark.reads_here(self.source, notice=self.notice)

    def load(self, raw: RawTable | None = None) -> LoadedInterest:
        """Read it into memory, or what was `opened` before."""
        if raw is None and (loaded := self.load_small()) is not None:
            return loaded
        session = self.spark.session(self.progress)
        if self.source.origin is not None or not shares_disk(session):
            # Executors may share no disk with this machine, and it is to be in memory anyway.
            with self.opened() if raw is None else nullcontext(raw) as there:
                loaded = self.collected(there)
            if loaded is not None:
                return loaded
            if self.source.origin is not None:
                raise InputError(too_large_told(self.source.path))
        with self.spark.workspace(progress=self.progress) as work:
            read = self.encode(work)
            try:
                return load_interest(read, self.progress)
            finally:  # the session lives on: whoever reads this table again must not get what was kept of it
                read.raw.release()

    def collected(self, raw: RawTable) -> LoadedInterest | None:
        """Bring what Spark has read into memory, no folder on the way; None: it is too large for that."""
        rows = collect_rows(raw, progress=self.progress)
        return None if rows is None else self._load(rows, here=False)

    def load_small(self) -> LoadedInterest | None:
        """Read it into memory at once, without Spark or by one job; None: it is too large for that."""
        if self.reads_here():
            return self._load(LocalReader().read(self.source, progress=self.progress), here=True)
        if self.spark.engine == "spark" or not collects(self.source):
            return None
        session = self.spark.session(self.progress)
        return self._load(collect_table(session, self.source, progress=self.progress), here=False)

    def _load(self, raw: LocalTable, *, here: bool) -> LoadedInterest:
        self.progress.phase("number pairs")
        rows, rejected = raw.rows, raw.n_rejects()
        if self.subscribers_only:
            rows = subscribers(rows)
        if self.strict:
            require_no_rejects(raw, rejected)
        if not rows.num_rows:
            raise no_rows(self.source, raw.refused())
        extras = [name for name in ("role", "rate") if name in rows.column_names]
        extras = [name for name in extras if rows[name].null_count < rows.num_rows]
        interest = number_small(rows, extras)
        refused = raw.refused()
        self._tell(raw, refused, self.notice)
        duplicates = rows.num_rows - interest.n_subscriptions
        return LoadedInterest(interest, interest_digest(interest), duplicates, refused, raw, here=here)

    def read_told(self, source: TableSource) -> TableRead:
        """Read the rows of this table or of one that goes with it; the user hears what there is to know."""
        check_there(source)
        raw = self.spark.reader(source, notice=self.notice, progress=self.progress).read(
            source, progress=self.progress
        )
        try:
            self.tell_read(raw)
        except BaseException:
            raw.release()
            raise
        return raw

    def tell_read(self, raw: TableRead, refused: RefusedRows | None = None) -> None:
        """Tell the user what there is to know of a table; refuse its rejects if that is asked for."""
        if raw.notice:
            self.notice(raw.notice)
        refused = raw.refused(progress=self.progress) if refused is None else refused
        if self.strict:
            require_no_rejects(raw, refused.rows)
        tell_refused(refused, raw.source, self.notice)


def too_large_told(path: str) -> str:
    """Return what is said of a table that Spark could not bring into this process."""
    return (
        f"{path} is too large to be collected: its names are more than {COLLECTED_BYTES >> 20} MiB, or than "
        "half of spark.driver.maxResultSize"
    )


def subscribers(rows: pa.Table) -> pa.Table:
    """Return all rows of the pairs that some row names as a subscription; the others only publish."""
    if "role" not in rows.column_names:
        return rows
    wanted = rows.filter(pc.fill_null(pc.not_equal(rows["role"], "pub"), True)).select(PAIR)
    return rows.join(wanted.group_by(PAIR).aggregate([]), PAIR, join_type="left semi")


def head_of(edges: TableSource, spark: SparkChoice) -> BuildHead | None:
    """Return what is known of the build that a user has named as a table of edges, if it is one."""
    if edges.origin is not None:
        return None
    if not is_address(edges.path):
        return read_summary(Path(edges.path)) if is_build(Path(edges.path)) else None
    content = RemoteFolder(spark.session(), edges.path).read(SUMMARY)
    return None if content is None else decode_summary(content, edges.path, BuildHead)


def check_agreement(edges: TableSource, interest: TableSource, digest: str, spark: SparkChoice) -> None:
    """Refuse a build that was made for another interest than the one given."""
    head = head_of(edges, spark)
    expected = digest if head is None else head.interest_digest
    if expected != digest:
        raise RefusedInputError(
            f"build {edges.path} was made for another interest than {interest.path} "
            f"({expected} against {digest}); give the interest it was made for, or the build itself twice"
        )
