"""What `topicloom reproduce` does: run experiments, write their page and pictures, return the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from topicloom.base.atomic_write import check_writable, replacing
from topicloom.base.charts import save_chart
from topicloom.base.progress import Progress
from topicloom.base.summaries import ResultSummary, Seconds
from topicloom.errors import InputError
from topicloom.experiments.charts import experiment_chart
from topicloom.experiments.model import Experiment
from topicloom.experiments.page import FOLDER, PAGE, counts_of, page
from topicloom.experiments.points import drawn_figures
from topicloom.experiments.rows import ReproducedRow
from topicloom.experiments.run import Outcome, run_experiments
from topicloom.tables.folder import SUMMARY, read_head, write_json
from topicloom.tables.spark.spark_choice import SparkChoice

QUICK, FULL = "quick", "full"
KIND = "reproduction"


class Reproduction(ResultSummary, frozen=True, kw_only=True):
    """The content of summary.json: a row for each claim, and how many got which verdict."""

    kind: str = KIND
    experiments: list[str]
    scale: str
    seed: int
    rows: list[ReproducedRow]
    verdicts: dict[str, int]
    left_out: int
    seconds: Seconds


def reproduce_experiments(
    experiments: Mapping[str, Experiment],
    *,
    full: bool,
    seed: int,
    out: Path | None,
    spark: SparkChoice,
    machine: str,
    clock: Callable[[], float],
    progress: Progress,
) -> tuple[Reproduction, list[Outcome]]:
    """Run the experiments; with `out` the page, the pictures and all figures are kept there.

    `clock` times the algorithms, in whichever process they run; `machine` is what the page says of it.
    """
    if out is not None:
        _check(out)
    began = progress.now()
    outcomes = run_experiments(
        experiments, full=full, seed=seed, kept=out, spark=spark, clock=clock, progress=progress
    )
    rows = [row for outcome in outcomes for row in outcome.rows]
    found = Reproduction(
        experiments=list(experiments),
        scale=FULL if full else QUICK,
        seed=seed,
        rows=rows,
        verdicts={name.replace(" ", "_"): count for name, count in counts_of(rows).items()},
        left_out=sum(len(outcome.left_out) for outcome in outcomes),
        seconds={"total": progress.now() - began},
    )
    if out is not None:
        _write(out, found, outcomes, machine, progress)
    return found, outcomes


def _check(out: Path) -> None:
    check_writable(out, f"`out={out}`")
    if out.exists() and not out.is_dir():
        raise InputError(f"`out={out}` is a file; name a folder")
    if (out / SUMMARY).exists():
        head = read_head(out / SUMMARY)
        if head is None or head.kind != KIND:
            raise InputError(f"`out={out}` holds another result; name another folder")


def _write(out: Path, found: Reproduction, outcomes: list[Outcome], machine: str, progress: Progress) -> None:
    progress.phase("draw", len(outcomes))
    drawn = set()
    for outcome in outcomes:
        figures = drawn_figures(outcome)
        if any(points for _, points in figures):
            chart = experiment_chart(outcome.experiment, figures)
            save_chart(chart, out / FOLDER / f"{outcome.name}.svg")
            drawn.add(outcome.name)
        progress.advance()
    with replacing(out / PAGE) as temporary:
        text = page(outcomes, scale=found.scale, seed=found.seed, machine=machine, drawn=drawn)
        temporary.write_text(text, "utf-8")
    with replacing(out / SUMMARY) as temporary:
        write_json(found, temporary)
