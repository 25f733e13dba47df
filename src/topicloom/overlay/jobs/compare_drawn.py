"""Builders on drawn workloads: the same law with several seeds, and what their figures have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import Progress
from topicloom.base.summaries import UNSET, UnsetType
from topicloom.overlay.jobs.build import build_loaded
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.jobs.compare import (
    ComparedBuild,
    ComparedMeans,
    Comparison,
    Interval,
    compared,
)
from topicloom.overlay.jobs.frontier import FrontierPoint, sweep_frontier
from topicloom.overlay.jobs.interest_table import LoadedInterest
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.build_folder import check_replaceable
from topicloom.overlay.workloads.generate import Workload, generate_interest
from topicloom.tables.folder import SUMMARY, write_json
from topicloom.tables.spark.spark_choice import SparkChoice

CONFIDENCE = 0.95


def compare_drawn(
    workload: Workload,
    requests: list[BuildRequest],
    *,
    seeds: int = 1,
    out: Path | None,
    frontier: bool = False,
    progress: Progress,
) -> Comparison:
    """Draw the workload with so many seeds, from its own on, and build each with each request.

    A builder has the seed of its workload. With `out` every build is kept there, and proved from there;
    with several seeds under the names `BUILDER-SEED`.
    """
    if out is not None:
        check_replaceable(out)
    began, rows = progress.now(), []
    points: list[FrontierPoint] | UnsetType = UNSET
    numbers = range(workload.seed, workload.seed + seeds)
    with replacing(out) if out is not None else nullcontext() as folder:
        if folder is not None:
            folder.mkdir()
        for seed in numbers:
            start = progress.now()
            interest = generate_interest(replace(workload, seed=seed), progress=progress)
            loaded = LoadedInterest(interest, interest_digest(interest), here=True)
            drawn = progress.now() - start
            for request in requests:
                name = request.algorithm if seeds == 1 else f"{request.algorithm}-{seed}"
                summary, build = build_loaded(
                    loaded,
                    replace(request, seed=seed),
                    None if folder is None else folder / name,
                    spark=SparkChoice(engine="local"),
                    began=progress.now() - drawn,
                    progress=progress,
                )
                rows.append(compared(interest, summary, build, request.threads, progress))
            if frontier and seed == workload.seed:
                points = sweep_frontier(interest, replace(requests[0], seed=seed), progress=progress)
        found = Comparison(
            rows=rows,
            means=means_of(rows) if seeds > 1 else UNSET,
            frontier=points,
            seconds={"total": progress.now() - began},
        )
        if folder is not None:
            write_json(found, folder / SUMMARY)
    return found


def means_of(rows: Sequence[ComparedBuild]) -> list[ComparedMeans]:
    """Return the means over the rows of each builder, in the order of their first rows."""
    found = []
    for name in dict.fromkeys(row.algorithm for row in rows):
        own = [row for row in rows if row.algorithm == name]
        far = [row.diameter_topic_max for row in own if row.diameter_topic_max is not None]
        found.append(
            ComparedMeans(
                algorithm=name,
                seeds=[row.seed for row in own],
                edges=interval([row.edges for row in own]),
                degree_avg=interval([row.degree_avg for row in own]),
                degree_max=interval([row.degree_max for row in own]),
                diameter_topic_max=interval(far) if len(far) == len(own) else None,
                hops_mean=interval([row.hops_mean for row in own]),
                hops_p95=interval([row.hops_p95 for row in own]),
                splits_avg=interval([row.splits_avg for row in own]),
                splits_max=interval([row.splits_max for row in own]),
                bridges=interval([row.bridges for row in own]),
                seconds_build=interval([row.seconds["build"] for row in own]),
                topic_connected=all(row.topic_connected for row in own),
            )
        )
    return found


def interval(values: Sequence[float]) -> Interval:
    """Return the mean, and mean ± t s / sqrt(n): t is Student's for n - 1 degrees of freedom and 95%.

    >>> found = interval([1.0, 2.0, 3.0])
    >>> found.mean, round(found.high - found.mean, 4)
    (2.0, 2.4841)
    """
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Interval(mean, mean, mean)
    reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2) * np.std(values, ddof=1) / math.sqrt(n))
    return Interval(mean, mean - reach, mean + reach)
