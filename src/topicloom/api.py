"""The Python interface: what `import topicloom` offers. Like the command line, it owns a clock."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from topicloom.builders.default import DEFAULT, choose_default
from topicloom.builders.registry import check_parameters, run_builder
from topicloom.export.graphs.files import load_graph
from topicloom.files.build_folder import load_build
from topicloom.measures.connectivity import check_overlay
from topicloom.measures.summary import measure_overlay
from topicloom.model.build import Build
from topicloom.model.constraints import UNCONSTRAINED, Constraints
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import Progress, Silent
from topicloom.model.verdict import Verdict

__all__ = ["build", "load_build", "load_graph", "measure", "read", "verify"]


def read(
    path: str | os.PathLike[str],
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    header: bool = True,
    separator: str | None = None,
    quote: bool | None = None,
    multiline: bool = False,
    subscribers_only: bool = False,
    strict: bool = False,
    master: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Interest:
    """Read an interest table (CSV, TSV, JSON lines, Parquet; file, folder or build) through Spark.

    The same rules as on the command line. A header that is not `node, topic`, and refused rows, are told
    by a `UserWarning`.
    """
    import warnings

    from topicloom.jobs.inputs import SparkChoice, load_interest
    from topicloom.tables.source import interest_source

    def notice(text: str) -> None:
        warnings.warn(text, stacklevel=4)

    source = interest_source(
        path,
        first=node_column,
        second=topic_column,
        header=header,
        separator=separator,
        quote=quote,
        multiline=multiline,
    )
    spark = SparkChoice(master, dict(spark_conf or {}))
    with spark.workspace() as work:
        loaded = load_interest(
            source,
            spark=spark,
            work=work,
            subscribers_only=subscribers_only,
            strict=strict,
            notice=notice,
            progress=progress or Silent(time.monotonic),
        )
    return loaded.interest


def build(
    interest: Interest,
    algorithm: str | None = None,
    *,
    constraints: Constraints | None = None,
    start: Overlay | Build | None = None,
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

    >>> from topicloom import Interest
    >>> build(Interest.from_pairs([("a", "x"), ("b", "x")]), "gm").overlay.n_edges
    1
    """
    limits = constraints or UNCONSTRAINED
    existing = start.overlay if isinstance(start, Build) else start
    values = check_parameters(algorithm or DEFAULT, parameters)
    if algorithm is None:
        bound = bool(parameters or limits.kinds() or existing is not None)
        choice = choose_default(interest, values, bound=bound)
        algorithm, values = choice.algorithm, choice.parameters
    clock = progress or Silent(time.monotonic)
    return run_builder(
        algorithm,
        interest,
        constraints=limits,
        start=existing,
        seed=seed,
        threads=threads,
        progress=clock,
        **values,
    )


def verify(interest: Interest, overlay: Overlay | Build, *, progress: Progress | None = None) -> Verdict:
    """Prove topic-connectivity in memory; the verdict has witnesses where it does not hold."""
    graph = overlay.overlay if isinstance(overlay, Build) else overlay
    return check_overlay(interest, graph, progress=progress or Silent(time.monotonic))


def measure(
    interest: Interest,
    overlay: Overlay | Build,
    *,
    certify: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """All measures of an overlay, under the names that `topicloom measure --json` uses.

    With `certify` also lower bounds for every overlay of this interest, and the gaps of this one.
    """
    from topicloom.jobs.certify import certify as certified

    graph = overlay.overlay if isinstance(overlay, Build) else overlay
    clock = progress or Silent(time.monotonic)
    found = measure_overlay(interest, graph, threads=threads, progress=clock)
    known = overlay.report if isinstance(overlay, Build) else {}
    bounds = certified(interest, found, known=known, threads=threads, progress=clock) if certify else {}
    return found | bounds
