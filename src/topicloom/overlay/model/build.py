"""What a builder gives back: the overlay and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from topicloom.overlay.model.overlay import Overlay


@dataclass(frozen=True, slots=True, eq=False)
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

    @property
    def n_edges(self) -> int:
        return self.overlay.n_edges

    @property
    def degree_max(self) -> int:
        return int(self.overlay.degrees().max(initial=0))
