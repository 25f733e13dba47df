"""Repetitions on Spark: each is a job of one task, so its figures arrive and are kept when it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import pyarrow as pa

from topicloom.experiments.cache import Case
from topicloom.experiments.model import Figures
from topicloom.experiments.tasks.registry import TASKS
from topicloom.tables.spark.python_tasks import Batches, map_batches
from topicloom.tables.spark.session import arrow_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_on_spark(
    spark: SparkSession, cases: Sequence[Case], clock: Callable[[], float]
) -> Iterator[tuple[Case, Figures]]:
    """Yield the figures of all cases in the order in which they end, as many at once as Spark has cores."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            for text in batch.column(0).to_pylist():
                task, settings, seed = json.loads(text)
                found = json.dumps(dict(TASKS[task](settings, seed, clock)))
                yield pa.RecordBatch.from_pydict({"found": [found]})

    def job(case: Case) -> Figures:
        frame = arrow_frame(spark, pa.table({"case": [case.text()]}))
        rows = map_batches(frame.coalesce(1), run, "found string").collect()
        found: Figures = json.loads(rows[0]["found"])
        return found

    at_once = max(1, spark.sparkContext.defaultParallelism)
    pool = ThreadPoolExecutor(at_once, "repetition")
    waiting = list(reversed(cases))
    open_: dict[Future[Figures], Case] = {}
    try:
        while waiting or open_:
            while waiting and len(open_) < at_once:
                case = waiting.pop()
                open_[pool.submit(job, case)] = case
            done, _ = wait(open_, return_when=FIRST_COMPLETED)
            for future in done:
                yield open_.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if open_:
            spark.sparkContext.cancelAllJobs()
