"""The constants of clients and brokers. Times in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from topicloom.errors import UsageError

SHORTEST = 0.001
"""A clock that ticks faster than every millisecond only spins."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How clients and brokers behave; equal for all of a system.

    The promise of `rules.py` holds if no message takes longer than `max_delay`, no path of a message has more
    than `longest_path` links between brokers, and `detector` is longer than a heartbeat and a `max_delay`.
    """

    max_delay: float = 0.1
    longest_path: int = 20
    heartbeat: float = 1.0
    """Seconds between two signs of life among brokers."""
    detector: float = 3.0
    """A broker that is silent for so long is dead to other brokers."""
    ping: float = 10.0
    """Seconds between two questions of a client to its broker."""

    round: float = 10.0
    """Seconds between two looks at which users should move, on average; 0: a broker never looks by itself."""
    threshold: float = 0.02
    """A move must save more than this share of what the user costs now."""
    moves: int = 8
    """Moves that a broker begins in a round at most."""
    stay: int = 2
    """Rounds for which a user that has moved is left where it is."""
    window: float = 60.0
    """Time constant of the rates that brokers summarize."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                raise UsageError(f"{name}={value}: a number of at least 0 is needed")
        for name in ("max_delay", "heartbeat", "detector", "ping", "window"):
            if getattr(self, name) < SHORTEST:
                raise UsageError(f"{name}={getattr(self, name):g}: it must be at least {SHORTEST:g}")
        if 0 < self.round < SHORTEST:
            raise UsageError(f"round={self.round:g}: it must be at least {SHORTEST:g}, or 0 for never")
        if self.detector <= self.heartbeat + self.max_delay:
            raise UsageError(
                f"detector={self.detector}: it must be longer than a heartbeat and a message's delay "
                f"({self.heartbeat + self.max_delay:g} s), or living brokers are given up"
            )

    @property
    def resend(self) -> float:
        """A letter without a receipt goes out again after so long: there and back, and a little."""
        return 2.5 * self.max_delay

    @property
    def patience(self) -> float:
        """How long one step of a migration may take: there, back, and a letter that went out twice."""
        return 2 * self.resend

    @property
    def notice(self) -> float:
        """How long a client takes to find out that its broker is dead, and to reach the one before it."""
        return self.ping + self.patience + 2 * self.max_delay

    @property
    def travel(self) -> float:
        """The longest time of an event from broker to broker: every link of its path, and once a wait until
        a broker on the path is found dead and passed by."""
        return self.longest_path * self.max_delay + self.detector + self.heartbeat + self.resend

    @property
    def ttl(self) -> float:
        """How long a home broker goes on for a user that has left (paper 001, section V: redirect).

        Three delays until every broker knows what the user wants at the foreign one (its last change of
        subscription may follow it there), then the longest travel of an event sent by what was known before;
        and as long as it takes the user to come back, should the foreign broker die meanwhile.
        """
        return 3 * self.max_delay + self.travel + self.notice

    @property
    def remember(self) -> float:
        """Nothing is on its way for longer: two redirects after one another are far shorter."""
        return 4 * self.ttl
