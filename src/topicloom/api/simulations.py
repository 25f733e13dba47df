"""Nodes that find an overlay by themselves, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topicloom.api.arguments import (
    InterestLike,
    PathLike,
    as_interest,
    check_path,
    check_text,
    check_whole,
    clock,
)
from topicloom.base.atomic_write import replacing
from topicloom.base.counts import counted
from topicloom.base.progress import Progress
from topicloom.errors import UsageError
from topicloom.overlay.jobs.interest_table import LoadedInterest
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.build_folder import check_replaceable
from topicloom.overlay.model.overlay import Overlay
from topicloom.spidercast.jobs.simulate import SimulationSummary, summarise_last, summarise_simulation
from topicloom.spidercast.simulator.folder import write_simulation
from topicloom.spidercast.simulator.run import SimulationOutcome
from topicloom.spidercast.simulator.run import simulate as run_simulation
from topicloom.spidercast.simulator.scenario import Scenario

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Simulation:
    """A simulation that has ended: its figures, its snapshots and the overlay of its last moment."""

    summary: SimulationSummary
    outcome: SimulationOutcome

    @property
    def overlay(self) -> Overlay:
        """The overlay of the last moment."""
        return self.outcome.moment.overlay.with_interest(self.outcome.moment.interest)

    def snapshots(self) -> pandas.DataFrame:
        """Return the snapshots as a pandas frame, one row each."""
        import pandas

        return pandas.DataFrame(self.outcome.snapshots)

    def save(self, path: PathLike) -> SimulationSummary:
        """Write the folder that `topicloom simulate` writes, without its charts."""
        out = check_path("path", path)
        check_replaceable(out, simulation=True)
        with replacing(out) as folder:
            write_simulation(folder, self.summary, self.outcome, summarise_last(self.summary, self.outcome))
        return self.summary

    def __repr__(self) -> str:
        one = self.summary
        proof = (
            "topic-connected" if one.topic_connected else f"{counted(one.topics_partitioned, 'topic')} split"
        )
        return (
            f"Simulation({one.protocol}, {counted(one.nodes, 'node')}, {counted(one.links, 'link')}, "
            f"maximum degree {one.degree_max:,}, {proof} after {one.simulated_seconds:.1f} s)"
        )

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


def simulate(
    interest: InterestLike,
    protocol: str = "spidercast",
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Simulation:
    """Let every node run a protocol that finds an overlay; `parameters` as in `topicloom simulate --list`.

    The same seed gives the same run.

    >>> wants = {f"n{i}": ["x", "y"] if i % 2 else ["x"] for i in range(8)}
    >>> found = simulate(wants, kg=2, seed=1)
    >>> found.summary.topic_connected, found.overlay.n_nodes
    (True, 8)
    """
    found = as_interest(interest)
    check_text("protocol", protocol, "the name of a protocol")
    check_whole("seed", seed)
    check_whole("threads", threads, least=1, none=True)
    try:
        scenario = Scenario.of(protocol, [f"{key}={value}" for key, value in parameters.items()], seed=seed)
    except UsageError as error:
        raise UsageError(str(error).replace("`set=", "`", 1)) from None
    watch = clock(progress)
    began = watch.now()
    outcome = run_simulation(found, scenario, threads=threads, progress=watch)
    seconds = {"ingest": 0.0, "simulate": watch.now() - began, "total": watch.now() - began}
    loaded = LoadedInterest(found, interest_digest(found))
    return Simulation(summarise_simulation(loaded, scenario, outcome, seconds), outcome)
