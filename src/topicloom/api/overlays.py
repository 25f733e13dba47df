"""From a table to a proved overlay: read, generate, inspect, build, verify, measure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec.structs import asdict

from topicloom.api.arguments import (
    EdgesLike,
    InterestLike,
    as_interest,
    as_overlay,
    as_rows,
    check_flag,
    check_path,
    check_text,
    check_whole,
    clock,
)
from topicloom.base.notebook import html_table, text_table
from topicloom.base.progress import Progress
from topicloom.errors import UsageError
from topicloom.overlay.builders.default import DEFAULT
from topicloom.overlay.builders.registry import check_parameters
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.measures.connectivity import check_edge_rows, check_overlay
from topicloom.overlay.measures.profile import Profile
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import refuse
from topicloom.overlay.model.verdict import Verdict


class Measures(dict[str, Any]):
    """All measures of an overlay by name: a dictionary that shows itself as a table."""

    def __repr__(self) -> str:
        return text_table("Measures", self)

    def _repr_html_(self) -> str:
        return html_table("Measures", self)


def read(
    path: str | os.PathLike[str],
    *,
    node_column: str | int | None = None,
    topic_column: str | int | None = None,
    header: bool = True,
    separator: str | None = None,
    quote: bool | None = None,
    multiline: bool = False,
    encoding: str = "utf-8",
    format: str | None = None,
    subscribers_only: bool = False,
    strict: bool = False,
    engine: str = "auto",
    master: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Interest:
    """Read an interest table (CSV, TSV, JSON lines, Parquet; file, folder or build).

    The same rules as on the command line. Spark reads it; with `engine="local"` this process does, for files
    of this machine up to 256 MiB, and for a build anyway unless `engine="spark"`. Columns are names, or
    positions from 1. `encoding` is that of text: utf-8, or one with a byte per character, such as latin-1;
    `format` (csv, tsv, json, parquet) overrules what the name says. A header that is not `node, topic`, and
    refused rows, are told by a `UserWarning`.
    A SparkSession of yours is used and stays as it is; one that starts for this call ends with it.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     _ = path.write_text("node,topic\\na,news\\nb,news\\nb,sport\\n")
    ...     read(path, engine="local")
    Interest(2 nodes, 2 topics, 3 subscriptions)
    """
    import warnings

    from topicloom.overlay.jobs.interest_table import InterestTable
    from topicloom.tables.source import are_small, interest_source
    from topicloom.tables.spark.session import passing_session
    from topicloom.tables.spark.spark_choice import SparkChoice

    check_path("path", path, "the path of a table")
    check_text("engine", engine, "auto, local or spark")
    columns = {
        "first": _column("node_column", node_column),
        "second": _column("topic_column", topic_column),
    }
    check_text("master", master, "the address of a Spark master", none=True)
    check_text("separator", separator, "one character", none=True)
    check_text("encoding", encoding, "the name of an encoding")
    check_text("format", format, "csv, tsv, json or parquet", none=True)
    check_flag("quote", quote, none=True)
    flags = {"header": header, "multiline": multiline, "strict": strict}
    for name, value in (flags | {"subscribers_only": subscribers_only}).items():
        check_flag(name, value)
    if spark_conf is not None and not isinstance(spark_conf, Mapping):
        raise refuse("spark_conf", "a dictionary of settings", spark_conf)
    source = interest_source(
        path,
        header=header,
        separator=separator,
        quote=quote,
        multiline=multiline,
        encoding=encoding,
        format=format,
        **columns,
    )
    spark = SparkChoice(master, dict(spark_conf or {}), are_small(os.fspath(path)), engine)
    watch = clock(progress)
    notices: list[str] = []
    try:
        with passing_session():
            table = InterestTable(source, spark, subscribers_only, strict, notices.append, watch)
            return table.load().interest
    finally:
        for text in notices:
            warnings.warn(text, stacklevel=2)  # the caller's line, however deep the notice arose


def _column(name: str, value: object) -> str | None:
    """Return a column as the reader takes it; positions are numbers from 1."""
    if isinstance(value, str | None):
        return value
    try:
        check_whole(name, value, least=1)
    except UsageError:
        raise refuse(name, "the name of a column, or its position from 1", value) from None
    return str(value)


def generate(
    nodes: int,
    topics: int | None = None,
    subscriptions: str | int | None = None,
    popularity: str = "uniform",
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Interest:
    """Draw a synthetic interest in memory: the same rows that `topicloom generate` writes.

    `subscriptions` are topics per node: `10`, `"10:90"` or `"lognormal:MEDIAN:SIGMA:LOW:HIGH"`; `popularity`
    is `uniform`, `zipf:A`, `exponential:S`, `geometric:R` or a preset such as `rss`.

    >>> generate(100, topics=20, subscriptions=5, popularity="zipf:0.5", seed=1)
    Interest(100 nodes, 20 topics, 500 subscriptions)
    """
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    check_whole("nodes", nodes, least=1)
    check_whole("topics", topics, least=1, none=True)
    check_whole("seed", seed)
    check_whole("threads", threads, least=1, none=True)
    check_text("popularity", popularity, "the name of a law or a preset")
    if subscriptions is not None and not isinstance(subscriptions, str):
        check_whole("subscriptions", subscriptions, least=1)
    workload = workload_from_options(nodes, topics, subscriptions, popularity, seed)
    return generate_interest(workload, threads=threads, progress=clock(progress))


def inspect(
    interest: InterestLike, *, threads: int | None = None, progress: Progress | None = None
) -> Profile:
    """Tell what an interest looks like and what that means for an overlay, as `topicloom inspect` does.

    >>> found = inspect({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
    >>> found.nodes, found.components, found.subscription_size.max
    (3, 1, 2)
    """
    from topicloom.overlay.jobs.measure import profile_of

    check_whole("threads", threads, least=1, none=True)
    return profile_of(as_interest(interest), threads=threads, progress=clock(progress))


def build(
    interest: InterestLike,
    algorithm: str | None = None,
    *,
    constraints: Constraints | None = None,
    start: EdgesLike | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Build:
    """Build an overlay in memory; `parameters` are those of the builder (`topicloom build --list`).

    Without `algorithm` it is `balanced`, or `dcbr-m` where that would take more than ten minutes.

    `constraints` (made by `Constraints.of`) limit the choice of edges, those of `start` exist already; a
    builder that does not honour them refuses. Where they keep a topic from being connected the best
    overlay found is returned, and its `report` says why.

    >>> build([("a", "x"), ("b", "x")], "gm")
    Build(gm, 2 nodes, 1 edge, maximum degree 1)
    """
    found = as_interest(interest)
    check_text("algorithm", algorithm, "the name of a builder", none=True)
    check_whole("seed", seed)
    check_whole("threads", threads, least=1, none=True)
    if constraints is not None and not isinstance(constraints, Constraints):
        raise refuse("constraints", "what Constraints.of makes", constraints)
    name = algorithm or DEFAULT
    request = BuildRequest(
        name,
        check_parameters(name, parameters),
        seed,
        threads,
        constraints or UNCONSTRAINED,
        None if start is None else as_overlay(found, start, "start"),
        named=algorithm is not None,
        fixed=bool(parameters),
    )
    made = request.settled(found).run(found, clock(progress))
    return replace(made, interest=found, overlay=made.overlay.with_interest(found))


def verify(interest: InterestLike, edges: EdgesLike, *, progress: Progress | None = None) -> Verdict:
    """Prove topic-connectivity in memory; the verdict has witnesses where it does not hold.

    Edges are a build, an overlay, pairs of node names, a frame, a table or a graph. Edges with unknown nodes,
    self-loops and repeated edges are counted and play no part in the proof.

    >>> wants = {"a": ["x"], "b": ["x", "y"], "c": ["y"]}
    >>> verify(wants, [("a", "b"), ("b", "c")])
    Verdict(proved: 2 topics connected by 2 edges)
    >>> verify(wants, [("a", "b")]).witnesses[0].topic
    'y'
    """
    found, rows = as_interest(interest), as_rows(edges)
    watch = clock(progress)
    if isinstance(rows, Overlay):
        return check_overlay(found, rows, progress=watch)
    return check_edge_rows(found, rows, progress=watch)


def _is_same(one: Interest, other: Interest) -> bool:
    from topicloom.overlay.measures.digest import interest_digest

    return one is other or interest_digest(one) == interest_digest(other)


def measure(
    interest: InterestLike,
    edges: EdgesLike,
    *,
    certify: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Measures:
    """Return all measures of an overlay, under the names that `topicloom measure --json` uses.

    With `certify` also lower bounds for every overlay of this interest, and the gaps of this one.

    >>> found = measure({"a": ["x"], "b": ["x", "y"], "c": ["y"]}, [("a", "b"), ("b", "c")])
    >>> found["degree_max"], found["hops_mean"], found["topic_connected"]
    (2, 1.0, True)
    """
    from topicloom.overlay.jobs import certify as certificates

    check_whole("threads", threads, least=1, none=True)
    check_flag("certify", certify)
    interest = as_interest(interest)
    graph = as_overlay(interest, edges)
    watch = clock(progress)
    found = measure_overlay(interest, graph, threads=threads, progress=watch)
    if not certify:
        return Measures(found)
    # Bounds that a builder proved hold for the interest it was given, and for no other.
    same = isinstance(edges, Build) and edges.interest is not None and _is_same(edges.interest, interest)
    known = edges.report if isinstance(edges, Build) and same else {}
    certificate = certificates.certify(interest, found, known=known, threads=threads, progress=watch)
    return Measures(found | asdict(certificate))
