"""The functions of `topicloom.spark`: build, improve, verify, measure, inspect and read DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from topicloom.api.arguments import EdgesLike, PathLike, check_flag, check_path, check_whole, clock
from topicloom.api.frames import (
    SparkBuilt,
    built_of,
    edges_of,
    improved_of,
    inspected,
    measured,
    read_encoded,
    table_of,
)
from topicloom.api.overlays import Measures
from topicloom.base.progress import Progress
from topicloom.overlay.measures.profile import Profile
from topicloom.overlay.model.verdict import Verdict
from topicloom.overlay.spark.improve import ROUNDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def build(
    df: DataFrame,
    algorithm: str | None = None,
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    seed: int = 0,
    threads: int | None = None,
    subscribers_only: bool = False,
    strict: bool = False,
    certify: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> SparkBuilt:
    """Build and prove an overlay; `.edges` is a DataFrame of `u`, `v` in the session of `df`.

    `dcbr-m`, `dcb-m` and `ring-pt` are built by Spark, at any size: the interest stays a table. Any other
    builder gets the rows in this process, up to 512 MiB of names or half of `spark.driver.maxResultSize`.
    Without `algorithm` the size decides: up to 10,000,000 subscriptions `balanced` (or what suits) here,
    beyond `dcbr-m` on Spark.

    With `out` the result is also a build folder, which workers must be able to write, and an unfinished run
    can be taken up with `resume`, where the DataFrame has the same rows. Without it nothing is written
    anywhere: tables stay with the executors. Rows without a node or a topic are refused, counted in
    `.summary.rejected` and listed in `.rejects`; with `strict` they are an error. With `certify`
    `.summary.certificate` has lower bounds for every overlay of this interest, and the gaps of this one.
    """
    check_whole("seed", seed)
    check_whole("threads", threads, least=1, none=True)
    flags = {"resume": resume, "subscribers_only": subscribers_only, "strict": strict, "certify": certify}
    for name, value in flags.items():
        check_flag(name, value)
    table = table_of(
        df,
        node_column,
        topic_column,
        subscribers_only=subscribers_only,
        strict=strict,
        progress=clock(progress),
    )
    return built_of(
        table,
        algorithm,
        parameters,
        out=None if out is None else _place(out),
        resume=resume,
        seed=seed,
        threads=threads,
        certify=certify,
    )


def improve(
    df: DataFrame,
    edges: DataFrame | EdgesLike,
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    u_column: str | None = None,
    v_column: str | None = None,
    rounds: int = ROUNDS,
    kernel_nodes: int | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    seed: int = 0,
    subscribers_only: bool = False,
    strict: bool = False,
    certify: bool = False,
    progress: Progress | None = None,
) -> SparkBuilt:
    """Return an overlay with fewer edges than this one, at any size: the same or better, and proved again.

    The overlay must be topic-connected, whatever made it. Regions of at most about `kernel_nodes` nodes
    (50,000; a build by groups keeps its groups, unless this asks for smaller ones) are improved side by side,
    each by `rounds` moves of the local search for each edge; the largest degree does not rise. Hops inside
    topics are not looked at. An overlay that `dcbr-m` has built is improved best with the same `seed` and
    `kernel_nodes`. `out` and `resume` are those of `build`; to resume, edges must be the address of a build.
    """
    check_whole("rounds", rounds, least=0)
    if kernel_nodes is not None:
        check_whole("kernel_nodes", kernel_nodes, least=1)
    check_whole("seed", seed)
    flags = {"resume": resume, "subscribers_only": subscribers_only, "strict": strict, "certify": certify}
    for name, value in flags.items():
        check_flag(name, value)
    table = table_of(
        df,
        node_column,
        topic_column,
        subscribers_only=subscribers_only,
        strict=strict,
        progress=clock(progress),
    )
    return improved_of(
        table,
        edges_of(table, edges, u_column, v_column),
        out=None if out is None else _place(out),
        rounds=rounds,
        kernel_nodes=kernel_nodes,
        seed=seed,
        resume=resume,
        certify=certify,
    )


def _place(out: PathLike) -> str:
    return str(out) if isinstance(out, str) else str(check_path("out", out))


def verify(
    df: DataFrame,
    edges: DataFrame | EdgesLike,
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    u_column: str | None = None,
    v_column: str | None = None,
    all_witnesses: PathLike | None = None,
    subscribers_only: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
) -> Verdict:
    """Prove that edges connect the subscribers of every topic, at any size; see `topicloom.verify`.

    Publishers count as interested, unless `subscribers_only` leaves those out that only publish.
    `all_witnesses` names a file (.jsonl, .json, .parquet) for every split topic. With `strict` refused rows,
    unknown nodes, self-loops and repeated edges are errors.
    """
    from topicloom.overlay.jobs.verify import verify_edges

    check_flag("subscribers_only", subscribers_only)
    check_flag("strict", strict)
    table = table_of(
        df,
        node_column,
        topic_column,
        subscribers_only=subscribers_only,
        strict=strict,
        progress=clock(progress),
    )
    source = edges_of(table, edges, u_column, v_column)
    witnesses = None if all_witnesses is None else os.fspath(all_witnesses)
    return verify_edges(table, source, all_witnesses=witnesses)


def measure(
    df: DataFrame,
    edges: DataFrame | EdgesLike,
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    u_column: str | None = None,
    v_column: str | None = None,
    subscribers_only: bool = False,
    certify: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Measures:
    """Return the measures of an overlay, under the names that `topicloom measure --json` uses."""
    check_flag("subscribers_only", subscribers_only)
    check_flag("certify", certify)
    check_whole("threads", threads, least=1, none=True)
    table = table_of(
        df, node_column, topic_column, subscribers_only=subscribers_only, progress=clock(progress)
    )
    source = edges_of(table, edges, u_column, v_column)
    return Measures(measured(table, source, threads=threads, certify=certify))


def inspect(
    df: DataFrame,
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    subscribers_only: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Profile:
    """Tell what an interest looks like and what that means for an overlay, as `topicloom inspect` does."""
    check_flag("subscribers_only", subscribers_only)
    check_whole("threads", threads, least=1, none=True)
    table = table_of(
        df, node_column, topic_column, subscribers_only=subscribers_only, progress=clock(progress)
    )
    return inspected(table, threads=threads)


def read(
    path: PathLike | DataFrame | None = None,
    *,
    table: str | None = None,
    sql: str | None = None,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    session: SparkSession | None = None,
    node_column: str | int | None = None,
    topic_column: str | int | None = None,
    subscribers_only: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
    **reading: Any,
) -> DataFrame:
    """Read an interest of any size and number its names, as a DataFrame that executors keep on their disks.

    A row is one subscription, each once: `node` and `topic` (text), `node_number` and `topic_number` (int,
    from 0, in the order of the names' UTF-8 bytes), and `role` and `rate` where the table has them. The
    table is a DataFrame, files at `path` (`reading`: `header`, `separator` and the like, as for
    `topicloom.read`), a `table` of the catalog, a query, or what a `format` of Spark loads with `options`.
    It is read in `session`, or in the active one, or in one that is started.
    """
    return read_encoded(
        path,
        {"table": table, "sql": sql, "format": format, "options": options},
        session,
        {"node_column": node_column, "topic_column": topic_column, **reading},
        subscribers_only=subscribers_only,
        strict=strict,
        progress=clock(progress),
    )
