"""What summary.json says of a build, wherever it was made, and how far it is from the best possible one."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from topicloom.base.summaries import FORMAT, UNSET, Parameters, Report, Seconds, Summary, UnsetType
from topicloom.version import __version__


class Certificate(Summary, frozen=True):
    """Bounds that hold for every topic-connected overlay of an interest, and the gaps of this one.

    An overlay that is not topic-connected has no gap: it might need more edges.
    """

    edges_bound: int
    degree_max_bound: int
    gap: float | None
    degree_max_gap: float | None
    bound_method: str


class BuildSummary(Summary, frozen=True, kw_only=True):
    """The content of summary.json; see docs/files.md.

    `choice` and `engine_choice` say why, where topicloom chose. Only builds on Spark have a `request`, by
    which a second run knows that all was done.
    """

    format: int = FORMAT
    kind: str = "build"
    version: str = __version__
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
    interest_digest: str
    edges: int
    degree_max: int
    degree_avg: float
    topic_components: int
    topics_partitioned: int
    topic_connected: bool
    phases: Seconds
    report: Report
    seconds: Seconds
    certificate: Certificate | UnsetType = UNSET
    request: str | UnsetType = UNSET

    FLAT = frozenset({"certificate"})


class BuildHead(Summary, frozen=True, kw_only=True):
    """As much of a build's summary as it takes to load it; whatever else is there plays no part."""

    format: Literal[1]
    kind: Literal["build"]
    algorithm: str
    parameters: Parameters
    seed: int
    interest_digest: str
    report: Report = field(default_factory=dict)
    seconds: Seconds
    request: str | UnsetType = UNSET
