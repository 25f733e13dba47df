"""What the registry holds about a builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from topicloom.base.parameters import Parameter, parameters_of
from topicloom.base.registry import Entry
from topicloom.overlay.model.build import Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder(Entry):
    """What there is to know about an algorithm."""

    build: Callable[..., Build]
    guarantee: str
    engines: tuple[str, ...] = ("local",)
    honours: tuple[str, ...] = ()  # the kinds of constraints it respects; it refuses the others
    links_strangers: bool = False  # may it link nodes that share no topic?

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its own arguments, as `build` declares them."""
        return parameters_of(self.build)
