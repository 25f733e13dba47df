"""From a table to a proved overlay: read, generate, inspect, build, verify, measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from topicloom.api.arguments import (
    EdgesLike,
    InterestLike,
    PathLike,
    as_interest,
    as_overlay,
    as_rows,
    check_flag,
    check_text,
    check_whole,
    clock,
)
from topicloom.api.tables import described
from topicloom.base.notebook import html_table, text_table
from topicloom.base.parameters import check_values
from topicloom.base.progress import Progress
from topicloom.base.summaries import plain
from topicloom.base.warn import warn_caller
from topicloom.errors import UsageError
from topicloom.overlay.builders.constrained import check_constraints
from topicloom.overlay.builders.default import DEFAULT
from topicloom.overlay.builders.improve import improve_overlay, improve_parameters
from topicloom.overlay.builders.registry import check_parameters
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.measures.connectivity import (
    check_edge_rows,
    check_overlay,
    node_codes,
    sound_edges,
)
from topicloom.overlay.measures.deliveries import measure_deliveries
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.measures.profile import Profile
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.measures.survival import check_deaths, check_survival
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import is_spark, refuse
from topicloom.overlay.model.verdict import Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Measures(dict[str, Any]):
    """All measures of an overlay by name: a dictionary that shows itself as a table."""

    def __repr__(self) -> str:
        return text_table("Measures", self)

    def _repr_html_(self) -> str:
        return html_table("Measures", self)


def read(
    path: PathLike | DataFrame | None = None,
    *,
    table: str | None = None,
    sql: str | None = None,
    options: Mapping[str, str] | None = None,
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
    """Read an interest table (CSV, TSV, JSON lines, Parquet; file, folder or build), or a DataFrame of Spark.

    Instead of a path also a `table` of Spark's catalog, the result of a query (`sql`), or what another
    `format` of Spark loads with `options`: orc, jdbc, delta.

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
    from topicloom.overlay.jobs.interest_table import InterestTable
    from topicloom.tables.source import are_small
    from topicloom.tables.spark.session import active_session, passing_session
    from topicloom.tables.spark.spark_choice import SparkChoice

    check_text("engine", engine, "auto, local or spark")
    check_text("master", master, "the address of a Spark master", none=True)
    for name, value in {"strict": strict, "subscribers_only": subscribers_only}.items():
        check_flag(name, value)
    if spark_conf is not None and not isinstance(spark_conf, Mapping):
        raise refuse("spark_conf", "a dictionary of settings", spark_conf)
    source = described(
        path,
        table=table,
        sql=sql,
        format=format,
        options=options,
        node_column=node_column,
        topic_column=topic_column,
        header=header,
        separator=separator,
        quote=quote,
        multiline=multiline,
        encoding=encoding,
    )
    small = source.origin is None and are_small(source.path)
    given = None
    if source.origin is not None and master is None and not spark_conf:
        # What a name means, only the session knows in which it was given.
        given = getattr(path, "sparkSession", None) or active_session()
    spark = SparkChoice(master, dict(spark_conf or {}), small, engine, given)
    with passing_session():
        found = InterestTable(source, spark, subscribers_only, strict, warn_caller, clock(progress))
        return found.load().interest


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
    engine: str = "local",
    progress: Progress | None = None,
    **parameters: Any,
) -> Build:
    """Build an overlay in memory; `parameters` are those of the builder (`topicloom build --list`).

    Without `algorithm` it is `balanced`, or where that would take more than ten minutes the first of
    `balanced` with one cap, `gm-m` and `dcbr-m` that does not.

    `constraints` (made by `Constraints.of`) limit the choice of edges, those of `start` exist already; a
    builder that does not honour them refuses. Where they keep a topic from being connected the best
    overlay found is returned, and its `report` says why.

    With `engine="spark"` Spark builds, in the session of a DataFrame or else in the one of this process; the
    edges come back. `topicloom.spark.build` leaves them there.

    >>> build([("a", "x"), ("b", "x")], "gm")
    Build(gm, 2 nodes, 1 edge, maximum degree 1)
    """
    if engine not in ("local", "spark"):
        raise refuse("engine", "local or spark", engine)
    if engine == "spark":
        from topicloom.api.frames import build_there

        limited = [name for name, one in (("constraints", constraints), ("start", start)) if one is not None]
        if limited:
            raise UsageError(f"`{limited[0]}` needs the interest in memory: leave out `engine`")
        return build_there(interest, algorithm, parameters, seed, threads, clock(progress))
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


def improve(
    interest: InterestLike,
    edges: EdgesLike,
    *,
    objective: str = "edges",
    constraints: Constraints | None = None,
    time_limit: float = 60.0,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Build:
    """Search for `time_limit` seconds for an overlay better than `edges`, as `topicloom improve` does.

    `objective` is edges, max-degree, hops, mean-hops, cost (with `costs` in the constraints), rate-hops (with
    rates) or rate-ms (with `rtt` too). `parameters` are `survive`, `extra_edges`, `max_hops`, `max_degree`,
    `max_edges` and `rounds`. The result is never worse by the objective, and neither edges nor
    maximum degree nor the most hops inside a topic grow. Topics that are split are joined first.

    >>> wants = {node: ["x"] for node in "abcd"}
    >>> improve(wants, [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], rounds=1, max_hops="none").n_edges
    3
    """
    found = as_interest(interest)
    check_whole("seed", seed)
    check_whole("threads", threads, least=1, none=True)
    if constraints is not None and not isinstance(constraints, Constraints):
        raise refuse("constraints", "what Constraints.of makes", constraints)
    asked = parameters | {"objective": objective, "time_limit": time_limit}
    made = improve_overlay(
        found,
        as_overlay(found, edges),
        constraints=constraints or UNCONSTRAINED,
        seed=seed,
        threads=threads,
        progress=clock(progress),
        **check_values("improve", improve_parameters(), asked),
    )
    return replace(made, interest=found, overlay=made.overlay.with_interest(found))


def verify(
    interest: InterestLike, edges: EdgesLike, *, survive: int = 0, progress: Progress | None = None
) -> Verdict:
    """Prove topic-connectivity in memory; the verdict has witnesses where it does not hold.

    With `survive` (1 or 2) it also has a proof, `survival`, that every topic stays connected when any so many
    nodes die, or who must die to split one.

    Edges are a build, an overlay, pairs of node names, a frame, a table or a graph. An interest that is a
    DataFrame of Spark stays there, and Spark proves it at any size. Edges with unknown nodes,
    self-loops and repeated edges are counted and play no part in the proof.

    >>> wants = {"a": ["x"], "b": ["x", "y"], "c": ["y"]}
    >>> verify(wants, [("a", "b"), ("b", "c")])
    Verdict(proved: 2 topics connected by 2 edges)
    >>> verify(wants, [("a", "b")]).witnesses[0].topic
    'y'
    """
    check_whole("survive", survive, least=0)
    check_deaths(survive)
    if is_spark(interest):
        from topicloom.api.dataframes import verify as verify_there

        if survive:
            raise UsageError("`survive` is proved in memory: give `Interest.from_spark(df)` as the interest")
        frame: Any = interest
        return verify_there(frame, edges, progress=progress)
    found, rows = as_interest(interest), as_rows(edges)
    watch = clock(progress)
    if isinstance(rows, Overlay):
        verdict = check_overlay(found, rows, progress=watch)
    else:
        verdict = check_edge_rows(found, rows, progress=watch)
    if survive:
        table = rows.to_arrow() if isinstance(rows, Overlay) else rows
        u, v = (node_codes(table[end], found.node_ids) for end in ("u", "v"))
        sound = sound_edges(u, v, found.n_nodes)
        overlay = Overlay.from_edges(found.node_ids, sound.low, sound.high)
        verdict = replace(verdict, survival=check_survival(found, overlay, survive, progress=watch))
    return verdict


def _is_same(one: Interest, other: Interest) -> bool:
    from topicloom.overlay.measures.digest import interest_digest

    return one is other or interest_digest(one) == interest_digest(other)


def measure(
    interest: InterestLike,
    edges: EdgesLike,
    *,
    certify: bool = False,
    constraints: Constraints | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Measures:
    """Return all measures of an overlay, under the names that `topicloom measure --json` uses.

    With `certify` also lower bounds for every overlay of this interest, and the gaps of this one. With rates,
    in the interest or in `constraints`, also what deliveries take, with costs what all edges cost.

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
    limits = constraints or UNCONSTRAINED
    check_constraints(interest, limits, None)
    found = measure_overlay(interest, graph, threads=threads, progress=watch)
    view = view_of(interest, graph, threads=threads, progress=watch)
    found |= measure_deliveries(view, limits)
    if not certify:
        return Measures(found)
    # Bounds that a builder proved hold for the interest it was given, and for no other.
    same = isinstance(edges, Build) and edges.interest is not None and _is_same(edges.interest, interest)
    known = edges.report if isinstance(edges, Build) and same else {}
    options: dict[str, Any] = {"threads": threads, "progress": watch}
    certificate = certificates.certify(interest, found, known=known, constraints=limits, **options)
    return Measures(found | plain(certificate))
