"""Draw a content problem and write its folder."""

from __future__ import annotations

from pathlib import Path

from topicloom.base.progress import Progress, Stopwatch, check_stop
from topicloom.base.summaries import Seconds, Summary
from topicloom.content.model.problem_folder import check_generated, write_problem
from topicloom.content.traffic.channels import ChannelGrid
from topicloom.content.workload import ATTRIBUTE, check_content, generate_content


class ContentGenerated(Summary, frozen=True, kw_only=True):
    """What was drawn and written, by which laws."""

    out: str
    users: int
    brokers: int
    channels: int
    model: str
    ratio: float
    width: str | float
    seed: int
    demand: float
    capacity: float
    density: float
    rates: int
    seconds: Seconds


def generate_content_to(
    out: Path, size: tuple[int, int, int], model: str, ratio: float, width: str, seed: int, progress: Progress
) -> ContentGenerated:
    """Write a drawn problem to the folder `out`; `size` are the numbers of users, brokers and channels."""
    start = progress.now()
    length = check_content(*size, model, ratio, width)
    check_generated(out)
    watch = Stopwatch(progress)
    with watch.phase("generate"):
        drawn = generate_content(*size, model, ratio, width, seed)
    check_stop(progress)
    with watch.phase("write"):
        write_problem(
            out,
            drawn.problem,
            ChannelGrid((ATTRIBUTE,), (drawn.edges[:-1],), (drawn.edges[1:],)).bounds(),
            coordinates=drawn.coordinates,
            generated=True,
        )
    problem = drawn.problem
    return ContentGenerated(
        out=str(out),
        **drawn.problem.sizes,
        model=model,
        ratio=ratio,
        width="uniform" if length is None else length,
        seed=seed,
        demand=float(problem.demand.sum()),
        capacity=float(problem.capacity.sum()),
        density=problem.density,
        rates=len(problem.rates),
        seconds={**watch.seconds, "total": progress.now() - start},
    )
