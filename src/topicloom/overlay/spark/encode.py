"""Read an interest and number its identifiers, at any size: the tables every later step works on.

A number is the rank of the identifier in the binary order of its UTF-8 bytes. The rank comes from a range
sort and the row counts of its partitions, so it depends neither on the partitioning nor on the order of rows.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import dataset

from topicloom.base.arrays import Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Summary
from topicloom.errors import InputError
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.measures.names import WILDCARD_SIGNS, wildcard_topics
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.merge_pairs import merge_pairs, number_small
from topicloom.overlay.spark.interest_rows import digest_of, interest_rows, tally_interest, totals
from topicloom.tables.reader import require_no_rejects, rows_were
from topicloom.tables.records import ROLES
from topicloom.tables.refused import RefusedRows, refused_told
from topicloom.tables.source import TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.origins import rows_signature
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.raw_table import RawTable, plain_texts
from topicloom.tables.spark.read import read_table
from topicloom.tables.spark.step_tables import StepTables, fits_broadcast
from topicloom.tables.spark.table_files import signature
from topicloom.tables.spark.written import Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_PER_PARTITION = 4_000_000  # how many rows one worker sorts at once (about 200 MB)
SMALL_ROWS = 200_000  # up to so many rows the driver does the numbering itself; the result is the same
SMALL_BYTES = 64 << 20  # of their names

assert ROLES == ("sub", "pub", "both")  # the bits below stand for these, in this order


class EncodedInterest(Summary, frozen=True, kw_only=True):
    """An interest as three Parquet folders of numbers, and what is known about it.

    `nodes` and `topics` have columns (id, number), `pairs` has (node, topic) and, where the input had them,
    `role` (position in ROLES) and `rate`.
    """

    nodes: str
    topics: str
    pairs: str
    n_nodes: int
    n_topics: int
    node_bytes: int  # of all identifiers together
    topic_bytes: int
    n_subscriptions: int
    duplicates: int
    refused: RefusedRows
    digest: str

    @property
    def rejected(self) -> int:
        """How many rows were refused."""
        return self.refused.rows

    def to_interest(self) -> Interest:
        """Read the whole interest into memory, straight from the files."""
        table = pq.read_table(self.pairs)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        return Interest.from_codes(
            _sorted_ids(self.nodes),
            _sorted_ids(self.topics),
            columns["node"],
            columns["topic"],
            columns["role"].astype(np.uint8) if "role" in columns else None,
            columns.get("rate"),
        )

    def wildcard_topics(self, spark: SparkSession) -> list[str]:
        """Return the topics that some broker would take for a filter."""
        from pyspark.sql import functions as sf

        signs = load_table(spark, self.topics).where(sf.col("id").rlike(WILDCARD_SIGNS)).select("id")
        return sorted(wildcard_topics(signs.toArrow()["id"]))

    def topic_sizes(self) -> Longs:
        """Count the nodes that want each topic, part by part: the interest is not held."""
        sizes = np.zeros(self.n_topics, np.int64)
        for batch in dataset(self.pairs).to_batches(columns=["topic"]):
            sizes += np.bincount(batch.column(0).to_numpy(), minlength=self.n_topics)
        return sizes


class InterestRead(NamedTuple):
    """An interest that was read: the numbered table, the raw one (for its rejects), and its files or rows."""

    encoded: EncodedInterest
    raw: RawTable
    files: list[list[str | int]]


def read_interest(
    spark: SparkSession,
    source: TableSource,
    *,
    work_dir: str | Path,
    raw: RawTable | None = None,
    signed: bool = False,
    subscribers_only: bool = False,
    strict: bool = False,
    progress: Progress = SILENT,
) -> InterestRead:
    """Read the interest that `source` describes, number its identifiers and write it below `work_dir`.

    Rows of the same pair are one subscription: sub and pub make both, of several rates the largest counts.
    `subscribers_only` leaves out pairs whose only role is to publish. On a cluster `work_dir` must be a
    place that all workers reach. With `strict` any refused row is an InputError; otherwise the raw table
    keeps them: `write_rejects` saves them, `release` lets go of them. A `raw` table is one that was read
    already. With `signed` the result tells the rows of a table that is no file from others.
    """
    files = signature(spark, source) if source.origin is None else []
    raw = read_table(spark, source, progress=progress) if raw is None else raw
    work = StepTables(spark, str(work_dir).rstrip("/"), progress)
    rows = interest_rows(raw, subscribers_only=subscribers_only)
    with ExitStack() as failed, spark_errors(source.path):
        failed.callback(raw.release)
        found = tally_interest(raw, rows, progress=progress, phase="read pairs")
        refused = raw.refused(known=found["refused"], progress=progress)
        if strict:
            require_no_rejects(raw, refused.rows)
        if found["rows"] == 0:
            raise no_rows(source, refused)
        if signed and source.origin is not None:
            files = rows_signature(raw, progress=progress)
        small = found["rows"] <= SMALL_ROWS and found["octets"] <= SMALL_BYTES
        nodes, topics, n_pairs, digest = (_encode_here if small else _encode_there)(work, rows, found)
        if refused.kinds:
            failed.pop_all()  # somebody may want to keep the refused rows
    encoded = EncodedInterest(
        nodes=work.path("nodes"),
        topics=work.path("topics"),
        pairs=work.path("pairs"),
        n_nodes=nodes.rows,
        n_topics=topics.rows,
        node_bytes=nodes.octets,
        topic_bytes=topics.octets,
        n_subscriptions=n_pairs,
        duplicates=found["rows"] - n_pairs,
        refused=refused,
        digest=digest,
    )
    return InterestRead(encoded, raw, files)


def no_rows(source: TableSource, refused: RefusedRows) -> InputError:
    """Return the error about a table without a usable row."""
    if not refused.kinds:
        return InputError(f"{source.path} holds no subscription: give a table of pairs")
    why = " ".join(refused_told(refused, source).split("\n")[1].split())
    return InputError(f"{source.path} holds no subscription ({rows_were(refused.rows)} refused): {why}")


Encoded = tuple[Written, Written, int, str]  # of nodes and topics; the number of pairs; the digest


def _encode_there(work: StepTables, rows: DataFrame, found: dict[str, int]) -> Encoded:
    """Number the identifiers by jobs on Spark."""
    nodes, topics = _number(work, rows)
    known = {"node": nodes, "topic": topics}
    numbered = _numbered_pairs(_with_dictionaries(work, rows, known), found)
    n_pairs = work.write("number pairs", numbered, "pairs", stages=2).rows
    if n_pairs != found["rows"]:
        # A pair that occurs twice has cancelled itself out in the hashes: take those of the pairs.
        pairs = work.load("pairs").selectExpr(*(f"{name} {name}_number" for name in known))
        named = _with_dictionaries(work, pairs, known, by_number=True)
        found = totals(named, progress=work.progress, phase="hash pairs")
    return nodes, topics, n_pairs, digest_of(found)


def _encode_here(work: StepTables, rows: DataFrame, found: dict[str, int]) -> Encoded:
    """Do the same on the driver: for a small table a dozen Spark jobs take longer than all the work."""
    table = plain_texts(work.run("number pairs", rows.toArrow))
    extras = [name for name in ("role", "rate") if found.get(name)]
    interest = number_small(table, extras)
    pairs = {"node": interest.pair_nodes(), "topic": interest.node_topics}
    pairs |= {name: getattr(interest, f"{name}s") for name in extras}
    tables = {"pairs": pa.table({name: pa.array(column) for name, column in pairs.items()})}
    for name, ids in (("nodes", interest.node_ids), ("topics", interest.topic_ids)):
        tables[name] = pa.table({"id": ids, "number": pa.array(np.arange(len(ids), dtype=np.int32))})
    for name, content in tables.items():
        work.put(name, content)
    nodes, topics = (
        Written(len(ids), int(pc.sum(pc.binary_length(ids)).as_py() or 0))
        for ids in (interest.node_ids, interest.topic_ids)
    )
    return nodes, topics, interest.n_subscriptions, interest_digest(interest)


def _number(work: StepTables, rows: DataFrame) -> tuple[Written, Written]:
    """Write the dictionaries of nodes and of topics; say how many identifiers they have and how long.

    One pass over the rows finds the names of both, one sort orders them: nodes first, then topics.
    """
    from pyspark.sql import functions as sf

    names = sf.stack(sf.lit(2), sf.lit(False), sf.col("node"), sf.lit(True), sf.col("topic"))
    ids = rows.select(names.alias("is_topic", "id")).distinct()
    ranked = work.ranked("sort names", ids, ["is_topic", "id"], "sorted-names")
    written: list[Written] = []
    for name, which in (("nodes", ~sf.col("is_topic")), ("topics", sf.col("is_topic"))):
        number = sf.col("rank") - sf.lit(sum(before.rows for before in written))
        numbered = ranked.where(which).select("id", number.cast("int").alias("number"))
        written.append(work.write(f"number {name}", numbered, name, names="id"))
    work.drop("sorted-names")
    return written[0], written[1]


def _with_dictionaries(
    work: StepTables, rows: DataFrame, known: dict[str, Written], *, by_number: bool = False
) -> DataFrame:
    """Add to names their numbers, or to numbers their names."""
    from pyspark.sql import functions as sf

    for name, written in known.items():
        ids = work.load(f"{name}s").toDF(name, f"{name}_number")
        ids = sf.broadcast(ids) if fits_broadcast(written.rows, written.octets) else ids
        rows = rows.join(ids, f"{name}_number" if by_number else name)
    return rows


def _numbered_pairs(rows: DataFrame, found: dict[str, int]) -> DataFrame:
    """Return distinct pairs of numbers; rows of one pair meet in one partition and are merged there."""
    from pyspark.sql import functions as sf

    columns = [sf.col("node_number").alias("node"), sf.col("topic_number").alias("topic")]
    schema = "node int, topic int"
    if found.get("role"):
        # A row without a role is a subscription.
        is_pub = sf.when(sf.col("role") == "pub", 2).when(sf.col("role") == "both", 3)
        columns.append(is_pub.otherwise(1).cast("tinyint").alias("role"))
        schema += ", role tinyint"
    if found.get("rate"):
        columns.append(sf.coalesce("rate", sf.lit(float("nan"))).alias("rate"))
        schema += ", rate double"
    partitions = 1 + found["rows"] // ROWS_PER_PARTITION
    return map_batches(rows.select(*columns).repartition(partitions, "node"), merge_pairs, schema)


def _sorted_ids(path: str) -> pa.StringArray:
    table = pq.read_table(path)
    order = pc.sort_indices(table["number"])
    ids = table["id"].cast(pa.string()).take(order).combine_chunks()
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
