"""Run experiments: all their repetitions, those that are kept left out, then claim by claim a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from topicloom.base.progress import Progress, check_stop
from topicloom.experiments.cache import Case, Kept
from topicloom.experiments.model import Claim, Experiment, Figures, Run, Sample
from topicloom.experiments.rows import ReproducedRow, judge
from topicloom.experiments.tasks.registry import TASKS
from topicloom.tables.spark.spark_choice import SparkChoice

FEW = 12  # so many repetitions at most are not worth a start of Spark


@dataclass(frozen=True, slots=True)
class Outcome:
    """An experiment that was run: what each seed gave, and what that says of the claims."""

    name: str
    experiment: Experiment
    runs: Sequence[Run]
    samples: Sequence[Sample]
    rows: Sequence[ReproducedRow]
    left_out: Sequence[Claim]  # for which the scale was too small


def run_experiments(
    experiments: Mapping[str, Experiment],
    *,
    full: bool,
    seed: int,
    kept: Path | None,
    spark: SparkChoice,
    clock: Callable[[], float],
    progress: Progress,
) -> list[Outcome]:
    """Run all repetitions of all experiments together and judge each; `kept` is where figures are kept.

    Neither the engine nor the number of cores changes a figure, except seconds.
    """
    grids = {name: list(one.runs(one.scale(full))) for name, one in experiments.items()}
    seeds = {name: range(seed, seed + one.scale(full).seeds) for name, one in experiments.items()}
    cases = {
        case.text(): case
        for name, runs in grids.items()
        for number in seeds[name]
        for case in (Case(run.task, run.settings, number) for run in runs)
    }
    cache = Kept(kept)
    missing = [case for case in cases.values() if cache.get(case) is None]
    progress.phase("repetitions", len(cases))
    progress.advance(len(cases) - len(missing))
    for case, figures in _figures(missing, spark, clock, progress):
        cache.put(case, figures)
        progress.advance()
        check_stop(progress)
    outcomes = []
    for name, experiment in experiments.items():
        samples = [_sample(grids[name], number, cache) for number in seeds[name]]
        rows, left_out = judge(name, experiment, samples, full=full, seed=seed)
        outcomes.append(Outcome(name, experiment, grids[name], samples, rows, left_out))
    return outcomes


def _figures(
    cases: Sequence[Case], spark: SparkChoice, clock: Callable[[], float], progress: Progress
) -> Iterator[tuple[Case, Figures]]:
    """Yield the figures of the cases; with many of them, or if asked for, they are Spark's tasks."""
    if spark.engine == "local" or (spark.engine == "auto" and spark.master is None and len(cases) <= FEW):
        for case in cases:
            yield case, TASKS[case.task](case.settings, case.seed, clock)
        return
    from topicloom.experiments.spark.run import run_on_spark

    yield from run_on_spark(spark.session(), cases, clock)


def _sample(runs: Sequence[Run], seed: int, kept: Kept) -> Sample:
    found = {}
    for run in runs:
        figures = kept.get(Case(run.task, run.settings, seed))
        assert figures is not None, run
        found[run.line, run.x] = figures
    return Sample(found)
