"""Verdicts: a claim of a paper beside what our runs gave, as one row of a table."""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.base.summaries import Summary
from topicloom.experiments.model import PAPERS, Claim, Experiment, Sample
from topicloom.overlay.jobs.compare_drawn import interval

REPRODUCES, DIFFERS, CANNOT = "reproduces", "differs", "cannot hold"
VERDICTS = (REPRODUCES, DIFFERS, CANNOT)


class ReproducedRow(Summary, frozen=True, kw_only=True):
    """One claim: printed and ours (the mean over the seeds, with its 95% interval)."""

    paper: str
    item: str
    claim: str
    printed: float | str
    ours: float
    interval: list[float] | None
    verdict: str
    reason: str
    command: str


def judge(
    name: str, experiment: Experiment, samples: Sequence[Sample], *, full: bool, seed: int
) -> tuple[list[ReproducedRow], list[Claim]]:
    """Return a row for each claim, and the claims that need more than was run."""
    rows, left_out = [], []
    command = f"topicloom reproduce {name} --{'full' if full else 'quick'}" + (
        f" --seed {seed}" if seed else ""
    )
    for claim in experiment.claims:
        try:
            values = [claim.measure(sample) for sample in samples]
        except KeyError:
            left_out.append(claim)
            continue
        found = interval(values)
        verdict, reason = verdict_of(claim, found.mean)
        rows.append(
            ReproducedRow(
                paper=paper_of(name),
                item=experiment.item,
                claim=claim.text,
                printed=claim.expected.printed,
                ours=found.mean,
                interval=[found.low, found.high] if len(values) > 1 else None,
                verdict=verdict,
                reason=reason,
                command=command,
            )
        )
    return rows, left_out


def verdict_of(claim: Claim, ours: float) -> tuple[str, str]:
    """Return the verdict, and how far the number is from the printed one and why."""
    told = claim.expected.told(ours)
    if claim.expected.holds(ours):
        return REPRODUCES, told
    if claim.cannot:
        return CANNOT, f"{told}: {claim.cannot}"
    return DIFFERS, f"{told}: {claim.differs}" if claim.differs else told


def paper_of(name: str) -> str:
    """Return the key of the paper of an experiment."""
    return PAPERS[name.partition("-")[0]]
