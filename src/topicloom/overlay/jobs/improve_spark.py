"""Improve the overlay of an edge table on Spark, region by region, at any size.

It makes the number of edges less, never the largest degree more; other objectives and bounds need the whole
overlay in one place, so they are refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topicloom.errors import UsageError
from topicloom.overlay.jobs.build_place import BuildPlace
from topicloom.overlay.jobs.build_request import BuildRequest, BuildTask
from topicloom.overlay.jobs.build_spark import build_on_spark
from topicloom.overlay.jobs.constraints import ConstraintFiles
from topicloom.overlay.jobs.interest_table import InterestTable
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.spark.improve import ROUNDS
from topicloom.tables.first_look import check_there
from topicloom.tables.source import TableSource
from topicloom.tables.spark.spark_choice import Notice, no_notice

# What the search in memory knows, with the values that Spark keeps to.
KNOWN = {
    "objective": ("edges",),
    "survive": (0,),
    "extra_edges": (0.0,),
    "max_hops": ("none",),
    "max_degree": ("auto",),
    "max_edges": ("auto",),
}
NOT_KEPT = "hops inside topics and the deaths that topics survive are not looked at on Spark: they may change"


@dataclass(frozen=True, slots=True)
class SparkImproveTask:
    """From which tables to which place; a round is one move of the search for each edge."""

    table: InterestTable
    edges: TableSource
    out: BuildPlace
    rounds: int | str = "auto"
    kernel_nodes: int | None = None  # as the edges were built, or as dcbr-m would
    seed: int = 0
    resume: bool = False
    certify: bool = False
    remark: Notice = no_notice


def check_asked(given: Mapping[str, Any], limits: ConstraintFiles) -> None:
    """Refuse what the search on Spark does not know; `given` are the settings that were given."""
    for name, values in KNOWN.items():
        if name in given and given[name] not in values:
            only = f": only `{name}={values[0]}`" if name in ("objective", "max_hops") else ": leave it out"
            raise UsageError(
                f"`{name}={given[name]}` needs the whole overlay in memory, and `engine=spark` improves it "
                f"region by region{only}"
            )
    if kinds := limits.kinds():
        raise UsageError(f"`{kinds[0]}` needs the interest in memory, and `engine=spark` leaves it on Spark")
    if "time_limit" in given:
        raise UsageError("`time_limit`: with `engine=spark` the search ends by `rounds`, not by a time")


def improve_there(task: SparkImproveTask) -> BuildSummary:
    """Carry out the task; the summary is the one in the folder."""
    if task.resume and task.edges.origin is not None:
        raise UsageError(f"`resume` needs edges in files: {task.edges.path} may have changed since")
    task.out.check(resume=task.resume)
    check_there(task.edges)
    task.remark(NOT_KEPT)
    rounds = ROUNDS if isinstance(task.rounds, str) else task.rounds
    parameters = {"rounds": rounds, "kernel_nodes": task.kernel_nodes}
    request = BuildRequest("improve", parameters, task.seed, certify=task.certify)
    return build_on_spark(
        BuildTask(task.table, task.out, request, resume=task.resume, remark=task.remark, edges=task.edges)
    )
