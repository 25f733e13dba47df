"""The Python interface: what `import topicloom` offers. Like the command line, it owns a clock."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec.structs import asdict

from topicloom.base.notebook import draw_with, html_of
from topicloom.base.progress import Progress, Silent
from topicloom.base.summaries import Figures
from topicloom.overlay.builders.default import DEFAULT
from topicloom.overlay.builders.registry import check_parameters
from topicloom.overlay.graphs.formats import load_graph
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.build_folder import load_build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Verdict

__all__ = ["BuildComparison", "build", "compare", "load_build", "load_graph", "measure", "read", "verify"]


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
    engine: str = "auto",
    master: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Interest:
    """Read an interest table (CSV, TSV, JSON lines, Parquet; file, folder or build).

    The same rules as on the command line. Spark reads it; with `engine="local"` this process does, for files
    of this machine up to 256 MiB, and for a build anyway unless `engine="spark"`. A header that is not
    `node, topic`, and refused rows, are told by a `UserWarning`. A SparkSession of yours is used and stays as
    it is; one that starts for this call ends with it.
    """
    import warnings

    from topicloom.overlay.jobs.interest_table import InterestTable
    from topicloom.tables.source import are_small, interest_source
    from topicloom.tables.spark.session import passing_session
    from topicloom.tables.spark.spark_choice import SparkChoice

    columns = {"first": node_column, "second": topic_column}
    source = interest_source(
        path, header=header, separator=separator, quote=quote, multiline=multiline, **columns
    )
    spark = SparkChoice(master, dict(spark_conf or {}), are_small(os.fspath(path)), engine)
    clock = progress or Silent(time.monotonic)
    notices: list[str] = []
    try:
        with passing_session():
            return (
                InterestTable(source, spark, subscribers_only, strict, notices.append, clock).load().interest
            )
    finally:
        for text in notices:
            warnings.warn(text, stacklevel=2)  # the caller's line, however deep the notice arose


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
    name = algorithm or DEFAULT
    request = BuildRequest(
        name,
        check_parameters(name, parameters),
        seed,
        threads,
        constraints or UNCONSTRAINED,
        start.overlay if isinstance(start, Build) else start,
        named=algorithm is not None,
        fixed=bool(parameters),
    )
    made = request.settled(interest).run(interest, progress or Silent(time.monotonic))
    return replace(made, interest=interest)


@dataclass(frozen=True, slots=True, eq=False)
class BuildComparison:
    """Several builds of one interest; notebooks show them as charts side by side."""

    interest: Interest
    builds: tuple[Build, ...]

    def _repr_html_(self) -> str | None:
        return html_of(self)


def compare(
    interest: Interest,
    algorithms: Sequence[str] = ("balanced", "gm", "gm-m", "ring-pt"),
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> BuildComparison:
    """Build with several algorithms in memory.

    >>> from topicloom import Interest
    >>> found = compare(Interest.from_pairs([("a", "x"), ("b", "x")]), ["gm", "star"])
    >>> [(one.algorithm, one.n_edges) for one in found.builds]
    [('gm', 1), ('star', 1)]
    """
    made = [build(interest, name, seed=seed, threads=threads, progress=progress) for name in algorithms]
    return BuildComparison(interest, tuple(made))


def _build_html(made: Build) -> str:
    from topicloom.report.notebook import build_html

    return build_html(made)


def _comparison_html(compared: BuildComparison) -> str:
    from topicloom.report.notebook import builds_html

    return builds_html(compared.interest, compared.builds)


draw_with(Build, _build_html)
draw_with(BuildComparison, _comparison_html)


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
) -> Figures:
    """Return all measures of an overlay, under the names that `topicloom measure --json` uses.

    With `certify` also lower bounds for every overlay of this interest, and the gaps of this one.
    """
    from topicloom.overlay.jobs import certify as certificates

    graph = overlay.overlay if isinstance(overlay, Build) else overlay
    clock = progress or Silent(time.monotonic)
    found = measure_overlay(interest, graph, threads=threads, progress=clock)
    if not certify:
        return found
    known = overlay.report if isinstance(overlay, Build) else {}
    certificate = certificates.certify(interest, found, known=known, threads=threads, progress=clock)
    return found | asdict(certificate)
