"""What to build and how, and what summary.json says of the result, on whichever engine it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from topicloom.base.progress import Progress
from topicloom.base.summaries import UNSET, Parameters, Report, Seconds
from topicloom.overlay.builders.default import DEFAULT, Extent, choose_default
from topicloom.overlay.builders.registry import parse_parameters, run_builder
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build and how, checked before any work begins."""

    algorithm: str
    parameters: Parameters
    seed: int = 0
    threads: int | None = None
    constraints: Constraints = UNCONSTRAINED
    existing: Overlay | None = None
    certify: bool = False
    named: bool = True  # False: the algorithm may still be changed to suit the interest
    fixed: bool = False  # parameters were given, which only this algorithm knows
    reason: str = ""
    engine_reason: str = ""

    @classmethod
    def of(
        cls,
        algorithm: str | None,
        settings: Sequence[str],
        *,
        seed: int = 0,
        threads: int | None = None,
        certify: bool = False,
    ) -> BuildRequest:
        """From texts such as `key=value`; unknown names and values are refused here."""
        name = algorithm or DEFAULT
        parameters = parse_parameters(name, settings)
        fixed = parameters != parse_parameters(DEFAULT, [])
        return cls(name, parameters, seed, threads, certify=certify, named=algorithm is not None, fixed=fixed)

    @property
    def bound(self) -> bool:
        """Are there parameters or constraints that only the default builder knows?"""
        return self.fixed or bool(self.constraints.kinds()) or self.existing is not None

    def settled(self, extent: Extent) -> BuildRequest:
        """With the builder that suits an interest of this extent, and why, if none was named."""
        if self.named:
            return self
        choice = choose_default(extent, self.parameters, bound=self.bound)
        return replace(
            self, algorithm=choice.algorithm, parameters=choice.parameters, reason=choice.reason, named=True
        )

    def run(self, interest: Interest, progress: Progress) -> Build:
        """Call the builder in this process."""
        return run_builder(
            self.algorithm,
            interest,
            constraints=self.constraints,
            start=self.existing,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
            **self.parameters,
        )


class Table(Protocol):
    """What there is to say of an interest table, in memory or not."""

    @property
    def n_nodes(self) -> int: ...
    @property
    def n_topics(self) -> int: ...
    @property
    def n_subscriptions(self) -> int: ...
    @property
    def duplicates(self) -> int: ...
    @property
    def rejected(self) -> int: ...
    @property
    def digest(self) -> str: ...


class Built(Protocol):
    """What there is to say of a build, in memory or not."""

    @property
    def n_edges(self) -> int: ...
    @property
    def degree_max(self) -> int: ...
    @property
    def parameters(self) -> Parameters: ...
    @property
    def report(self) -> Report: ...


def summarise(
    request: BuildRequest,
    engine: str,
    table: Table,
    build: Built,
    verdict: Verdict,
    phases: Mapping[str, float],
    seconds: Seconds,
) -> BuildSummary:
    """The content of summary.json."""
    return BuildSummary(
        algorithm=request.algorithm,
        choice=request.reason or UNSET,
        engine=engine,
        engine_choice=request.engine_reason or UNSET,
        parameters=build.parameters,
        seed=request.seed,
        nodes=table.n_nodes,
        topics=table.n_topics,
        subscriptions=table.n_subscriptions,
        duplicates=table.duplicates,
        rejected=table.rejected,
        interest_digest=table.digest,
        edges=build.n_edges,
        degree_max=build.degree_max,
        degree_avg=2.0 * build.n_edges / table.n_nodes if table.n_nodes else 0.0,
        topic_components=verdict.topic_components,
        topics_partitioned=verdict.topics_partitioned,
        topic_connected=verdict.topic_connected,
        phases=dict(phases),
        report=build.report,
        seconds=seconds,
    )
