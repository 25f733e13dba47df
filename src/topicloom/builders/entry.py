"""What the registry holds about a builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from topicloom.model.build import Build
from topicloom.model.parameters import Parameter


@dataclass(frozen=True, slots=True)
class Builder:
    """What there is to know about an algorithm."""

    build: Callable[..., Build]
    aim: str
    guarantee: str
    complexity: str
    paper: str
    seeded: bool = False
    engines: tuple[str, ...] = ("local",)
    honours: tuple[str, ...] = ()  # the kinds of constraints it respects; it refuses the others
    links_strangers: bool = False  # may it link nodes that share no topic?
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
