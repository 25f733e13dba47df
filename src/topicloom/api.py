"""The Python interface: what `import topicloom` offers. Like the command line, it owns a clock."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from topicloom.builders.registry import check_parameters, find_builder
from topicloom.files.build_folder import load_build
from topicloom.measures.connectivity import check_overlay
from topicloom.measures.summary import measure_overlay
from topicloom.model.build import Build
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import Progress, Silent
from topicloom.model.verdict import Verdict

__all__ = ["build", "load_build", "measure", "read", "verify"]


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
    from topicloom.spark.source import interest_source

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
    algorithm: str = "gm",
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Build:
    """Build an overlay in memory; `parameters` are those of the builder (`topicloom build --list`).

    >>> from topicloom import Interest
    >>> build(Interest.from_pairs([("a", "x"), ("b", "x")]), "gm").overlay.n_edges
    1
    """
    values = check_parameters(algorithm, parameters)
    clock = progress or Silent(time.monotonic)
    return find_builder(algorithm).build(interest, seed=seed, threads=threads, progress=clock, **values)


def verify(interest: Interest, overlay: Overlay | Build, *, progress: Progress | None = None) -> Verdict:
    """Prove topic-connectivity in memory; the verdict has witnesses where it does not hold."""
    graph = overlay.overlay if isinstance(overlay, Build) else overlay
    return check_overlay(interest, graph, progress=progress or Silent(time.monotonic))


def measure(
    interest: Interest,
    overlay: Overlay | Build,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """All measures of an overlay, under the names that `topicloom measure --json` uses."""
    graph = overlay.overlay if isinstance(overlay, Build) else overlay
    return measure_overlay(interest, graph, threads=threads, progress=progress or Silent(time.monotonic))
