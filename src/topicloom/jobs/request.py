"""What to build and how, and what summary.json says of the result, on whichever engine it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topicloom.builders.default import DEFAULT, Extent, choose_default
from topicloom.builders.registry import parse_parameters, run_builder
from topicloom.model.build import Build
from topicloom.model.constraints import UNCONSTRAINED, Constraints
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import Progress
from topicloom.model.summaries import FORMAT
from topicloom.model.verdict import Verdict
from topicloom.version import __version__


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build and how, checked before any work begins."""

    algorithm: str
    parameters: dict[str, Any]
    seed: int = 0
    threads: int | None = None
    constraints: Constraints = UNCONSTRAINED
    existing: Overlay | None = None
    certify: bool = False
    named: bool = True  # False: the algorithm may still be changed to suit the interest
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
        return cls(name, parameters, seed, threads, certify=certify, named=algorithm is not None)

    @property
    def bound(self) -> bool:
        """Are there parameters or constraints that only the default builder knows?"""
        limited = bool(self.constraints.kinds()) or self.existing is not None
        return limited or self.parameters != parse_parameters(DEFAULT, [])

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


@dataclass(frozen=True, slots=True)
class Facts:
    """What there is to say of a build besides the verdict and the time it took."""

    engine: str
    nodes: int
    topics: int
    subscriptions: int
    duplicates: int
    rejected: int
    digest: str
    edges: int
    degree_max: int
    parameters: Mapping[str, Any]
    report: Mapping[str, Any]
    phases: Mapping[str, float]


def summarise(
    request: BuildRequest, facts: Facts, verdict: Verdict, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The content of summary.json."""
    return {
        "format": FORMAT,
        "kind": "build",
        "version": __version__,
        "algorithm": request.algorithm,
        **({"choice": request.reason} if request.reason else {}),
        "engine": facts.engine,
        **({"engine_choice": request.engine_reason} if request.engine_reason else {}),
        "parameters": dict(facts.parameters),
        "seed": request.seed,
        "nodes": facts.nodes,
        "topics": facts.topics,
        "subscriptions": facts.subscriptions,
        "duplicates": facts.duplicates,
        "rejected": facts.rejected,
        "interest_digest": facts.digest,
        "edges": facts.edges,
        "degree_max": facts.degree_max,
        "degree_avg": 2.0 * facts.edges / facts.nodes if facts.nodes else 0.0,
        "topic_components": verdict.topic_components,
        "topics_partitioned": verdict.topics_partitioned,
        "topic_connected": verdict.topic_connected,
        "phases": dict(facts.phases),
        "report": dict(facts.report),
        "seconds": seconds,
    }
