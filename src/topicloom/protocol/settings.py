"""The constants of the protocol, as paper 004 and our own runs recommend them. Times in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from topicloom.errors import UsageError

SHORTEST = 0.001
"""A clock that ticks faster than every millisecond only spins."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a node behaves; equal for all nodes of an overlay as a rule, though nothing depends on it."""

    margin: int = 5
    connect_timeout: float = 0.1
    heartbeat: float = 1.0
    detector: float = 3.0
    doubt: float = 1.5
    """A neighbor silent for so many heartbeats no longer counts for coverage, though it stays one until
    `detector` seconds have passed: its replacement is found before it is given up."""
    connect_quarantine: float = 2.0
    disconnect_quarantine: float = 10.0

    gossip_view: int = 50
    gossip_shuffle: int = 10
    gossip_period: float = 1.0
    gossip_forget: float = 30.0
    """What gossip has not heard of a node for so long is forgotten."""

    keep_events: int = 1_000
    keep_seconds: float = 60.0
    remember_ids: int = 10_000
    announce_delay: float = 0.05
    announce_rounds: int = 3
    repair_timeout: float = 0.2
    ordered: bool = False
    order_wait: float = 5.0
    relay_seconds: float = 10.0
    """An event younger than this is asked for even by a node that subscribed after it: not for its own
    application, only for others that may miss it and have no other way to it."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                raise UsageError(f"{name}={value}: a number of at least 0 is needed")
        for name in ("connect_timeout", "heartbeat", "detector", "doubt", "gossip_period", "repair_timeout"):
            if getattr(self, name) < SHORTEST:
                raise UsageError(f"{name}={getattr(self, name):g}: it must be at least {SHORTEST:g}")
        if self.detector <= self.heartbeat:
            raise UsageError(
                f"detector={self.detector}: it must be longer than a heartbeat ({self.heartbeat} s), "
                "or every neighbor is given up"
            )
