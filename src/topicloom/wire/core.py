"""A sans-IO core as every driver sees it, and everything it may ask of its driver. Plain values, no driver.

A driver runs one loop: feed the core (`start`, `receive`, `handle_timer`, or what its application calls),
carry out what `take_effects` returns, re-arm one timer by `next_timer`. Nobody reaches into a core.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

Name: TypeAlias = int | str


class Send(Struct, frozen=True, gc=False):
    """Carry `message` to each of `to`; a connection is opened where there is none."""

    to: tuple[Name, ...]
    message: Any


class LinkUp(Struct, frozen=True, gc=False):
    """`peer` is now a neighbor, or a user's broker: keep a connection to it."""

    peer: Name


class LinkDown(Struct, frozen=True, gc=False):
    """`peer` is no longer one: the connection may be closed."""

    peer: Name
    reason: str


class Close(Struct, frozen=True, gc=False):
    """`peer` sent something invalid; it was ignored, and the connection should be closed."""

    peer: Name
    reason: str


class Deliver(Struct, frozen=True, gc=False):
    """An event for the application, at most once; `hops` links from its publisher where these are counted."""

    event: Any
    hops: int = 0


Effect: TypeAlias = Send | LinkUp | LinkDown | Close | Deliver
NOTHING: tuple[Effect, ...] = ()


class Core(Protocol):
    """One participant. Every call brings `now`, seconds on any steady clock; nothing a peer says raises."""

    def start(self, now: float) -> None:
        """Begin."""

    def receive(self, peer: Name, message: Any, now: float) -> None:
        """Handle a message from `peer`."""

    def handle_timer(self, now: float) -> None:
        """Do what is due; calling it too early does no harm."""

    def next_timer(self) -> float:
        """Return when `handle_timer` wants to be called; infinity for never."""

    def take_effects(self) -> Sequence[Effect]:
        """Return what is to be done since the last call, in order."""


class BaseCore:
    """What every core keeps for its driver: effects that its parts add to one list, and when it is due."""

    __slots__ = ("_due", "_effects")

    def __init__(self, effects: list[Effect]) -> None:
        self._effects = effects
        self._due = inf

    def next_timer(self) -> float:
        """Return when `handle_timer` wants to be called; infinity for never."""
        return self._due

    def take_effects(self) -> Sequence[Effect]:
        """Return what is to be done since the last call, in order."""
        effects = self._effects
        if not effects:  # most messages ask for nothing
            return NOTHING
        taken = effects[:]
        effects.clear()  # the parts hold this very list
        return taken


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Return a table of protocol rules as text: one line per row, columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
