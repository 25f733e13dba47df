"""What a builder gives back, and what summary.json says of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from topicloom.base.counts import counted
from topicloom.base.late_methods import late_method
from topicloom.base.summaries import UNSET, Parameters, Report, ResultSummary, Seconds, Summary, UnsetType
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Survival


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Build:
    """An overlay with the algorithm, parameters and seed that made it, and what the builder reports.

    `seconds` are the builder's phases by name; `report` holds figures of its own (may be empty).
    """

    overlay: Overlay
    algorithm: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)
    interest: Interest | None = field(default=None, repr=False)  # where the caller had it at hand

    def save(self, path: str | os.PathLike[str]) -> BuildSummary:
        """Prove the build and write it as a folder, like `topicloom build`; return what its summary says.

        An earlier build there is replaced; `topicloom.load_build` and every command read it.
        """
        summary: BuildSummary = late_method(self, "save")(self, path)
        return summary

    def __repr__(self) -> str:
        size = f"{counted(self.overlay.n_nodes, 'node')}, {counted(self.n_edges, 'edge')}"
        return f"Build({self.algorithm}, {size}, maximum degree {self.degree_max:,})"

    def _repr_html_(self) -> str:
        html: str = late_method(self, "_repr_html_")(self)  # notebooks show charts
        return html

    @property
    def n_edges(self) -> int:
        return self.overlay.n_edges

    @property
    def degree_max(self) -> int:
        return int(self.overlay.degrees().max(initial=0))


class Certificate(Summary, frozen=True):
    """Bounds that hold for every topic-connected overlay of an interest, and the gaps of this one.

    An overlay that is not topic-connected has no gap: it might need more edges.
    """

    edges_bound: int
    degree_max_bound: int
    gap: float | None
    degree_max_gap: float | None
    bound_method: str
    bound_survive: int | UnsetType = UNSET  # deaths that the bounded overlays survive
    bound_constraints: tuple[str, ...] | UnsetType = UNSET  # kinds that these bounds do not consider
    cost_bound: float | UnsetType = UNSET  # no overlay costs less
    cost_gap: float | UnsetType | None = UNSET


class BuildSummary(ResultSummary, frozen=True, kw_only=True):
    """The content of summary.json; see docs/files.md.

    `choice` and `engine_choice` say why, where topicloom chose. Where rows were refused, `rejects` has how
    many for each reason and `only_rejected` how many nodes and topics occur in no other row. Only builds on
    Spark have `spark`, what Spark did in each phase, and a `request`, by which a second run knows that all
    was done. Behind an address `tables` says where in the folder the tables are. `survival` is the proof of a
    build that was asked to survive deaths.
    """

    kind: str = "build"
    algorithm: str
    choice: str | UnsetType = UNSET
    engine: str
    engine_choice: str | UnsetType = UNSET
    parameters: Parameters
    seed: int
    nodes: int
    topics: int
    subscriptions: int
    duplicates: int
    rejected: int
    rejects: dict[str, int] | UnsetType = UNSET
    only_rejected: dict[str, int] | UnsetType = UNSET
    interest_digest: str
    edges: int
    degree_max: int
    degree_avg: float
    topic_components: int
    topics_partitioned: int
    topic_connected: bool
    survival: Survival | UnsetType = UNSET
    phases: Seconds
    report: Report
    seconds: Seconds
    certificate: Certificate | UnsetType = UNSET
    spark: dict[str, dict[str, int | float]] | UnsetType = UNSET
    request: str | UnsetType = UNSET
    tables: dict[str, str] | UnsetType = UNSET

    FLAT = frozenset({"certificate"})


class BuildHead(Summary, frozen=True, kw_only=True):
    """As much of a build's summary as it takes to load it; whatever else is there plays no part."""

    format: Literal[1]
    kind: Literal["build"]
    algorithm: str
    parameters: Parameters
    seed: int
    interest_digest: str
    report: Report = msgspec.field(default_factory=dict)
    seconds: Seconds
    request: str | UnsetType = UNSET
    tables: dict[str, str] | UnsetType = UNSET
