"""What a report may be about. Values only: the files beside this one read them from folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import msgspec
import pyarrow as pa

from topicloom.base.summaries import Parameters
from topicloom.content.jobs.plan import PlanSummary
from topicloom.mesh.jobs.run import RunSummary
from topicloom.mesh.model.mesh import Mesh
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Verdict
from topicloom.report.sources.overlay_view import OverlayFigures


@dataclass(frozen=True, slots=True, eq=False)
class BuildView:
    """One build: what its summary says, what was proved again here, and what was measured."""

    name: str
    folder: str
    summary: BuildSummary
    overlay: Overlay
    verdict: Verdict
    figures: OverlayFigures


@dataclass(frozen=True, slots=True, eq=False)
class BoundView:
    """What every topic-connected overlay of the interest needs."""

    edges: int
    degree_avg: float
    degree_max: int
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class OverlaySubject:
    """One or several builds of one interest."""

    name: str
    interest: Interest
    builds: tuple[BuildView, ...]
    bounds: BoundView | None
    rejects: Mapping[str, int] = field(default_factory=dict)  # refused rows by reason


class Outage(msgspec.Struct, frozen=True):
    """A cut or a freeze: from when to when, and how many nodes it struck."""

    kind: Literal["cut", "freeze"]
    start: float
    end: float
    nodes: int


class SimulationFacts(msgspec.Struct, frozen=True):
    """As much of a simulation's summary as the report cannot do without."""

    protocol: str
    nodes: int
    topics: int
    simulated_seconds: float
    parameters: Parameters
    seed: int
    rejected: int
    duplicates: int
    subscriptions: int
    outages: list[Outage] = []


class RoundsFacts(msgspec.Struct, frozen=True):
    """The same of a simulation of content brokers."""

    users: int
    brokers: int
    cost_start: float
    cost_end: float
    cost_random: float
    migrations: int
    parameters: Parameters
    seed: int
    cost_central: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SimulationSubject:
    """A simulation: its course, and the last moment as a build. `links` has the changes of links, if kept."""

    folder: str
    summary: SimulationFacts
    snapshots: list[dict[str, Any]]
    split: Mapping[float, list[tuple[str, int]]]  # topics in several components, by time
    last: OverlaySubject
    links: pa.Table | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MeshSubject:
    """Brokers and their links; `places` are coordinates of hosts, `run` what the last run has shown."""

    folder: str
    mesh: Mesh
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    run: RunSummary | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlanSubject:
    """A content plan; `places` are the coordinates of users and brokers where the problem has them."""

    folder: str
    problem: str | None
    summary: PlanSummary
    assignment: pa.Table
    loads: pa.Table
    users: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    brokers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    core: Mapping[tuple[str, str], int] = field(default_factory=dict)  # trees that use a link


@dataclass(frozen=True, slots=True, eq=False)
class RoundsSubject:
    """A simulation of content brokers: the rounds of its summary."""

    folder: str
    summary: RoundsFacts
    rounds: list[dict[str, Any]]


Subject: TypeAlias = OverlaySubject | SimulationSubject | MeshSubject | PlanSubject | RoundsSubject

GONE = "DIR"  # stands for a folder that will not be there any more


def without(subject: Subject, folder: str) -> Subject:
    """Return the subject with another name for a folder that is not kept."""

    def renamed(text: str) -> str:
        return text.replace(folder, GONE)

    if isinstance(subject, OverlaySubject):
        builds = tuple(replace(view, folder=renamed(view.folder)) for view in subject.builds)
        return replace(subject, builds=builds)
    if isinstance(subject, SimulationSubject):
        last = without(subject.last, folder)
        assert isinstance(last, OverlaySubject)
        return replace(subject, folder=renamed(subject.folder), last=last)
    return replace(subject, folder=renamed(subject.folder))
