"""The constants of users and brokers. Times in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from topicloom.base.parameters import SHORTEST, Parameter, check_constants
from topicloom.errors import UsageError

amount = partial(Parameter, least=0)


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """How users and brokers behave; equal for all of a system.

    The promise of `user_rules.py` holds if no message takes longer than `max_delay`, no path of a message has
    more than `longest_path` links between brokers, and `detector` is longer than `heartbeat` + `max_delay`.
    """

    max_delay: Annotated[float, amount("seconds that no message exceeds")] = 0.1
    longest_path: int = 20
    heartbeat: Annotated[float, amount("seconds between signs of life among brokers")] = 1.0
    detector: Annotated[float, amount("seconds of silence after which a broker counts as dead")] = 3.0
    ping: Annotated[float, amount("seconds between two questions of a user to its broker")] = 10.0
    # `round=0`: a broker never looks by itself.
    round: Annotated[float, amount("seconds between two looks of a broker at its users, on average")] = 10.0
    threshold: Annotated[
        float, Parameter("share of a user's cost that a move must save", least=0, most=1)
    ] = 0.02
    moves: Annotated[int, Parameter("moves that a broker begins in a round at most", least=1)] = 8
    stay: Annotated[int, amount("rounds for which a user that has moved is left alone")] = 2
    window: Annotated[float, amount("time constant of counted rates, seconds")] = 60.0

    def __post_init__(self) -> None:
        check_constants(self, clocks=("max_delay", "heartbeat", "detector", "ping", "window"))
        if 0 < self.round < SHORTEST:
            raise UsageError(f"`round={self.round:g}`: it must be at least {SHORTEST:g}, or 0 for never")
        if self.detector <= self.heartbeat + self.max_delay:
            raise UsageError(
                f"`detector={self.detector}`: it must be longer than a heartbeat and a message's delay "
                f"({self.heartbeat + self.max_delay:g} s), or living brokers are given up"
            )

    @property
    def resend(self) -> float:
        """The time after which a letter without a receipt is sent again: there and back, and a little."""
        return 2.5 * self.max_delay

    @property
    def patience(self) -> float:
        """The time that one step of a migration may take: there, back, and a letter that was sent twice."""
        return 2 * self.resend

    @property
    def notice(self) -> float:
        """The time in which a user finds out that its broker is dead, and reaches the one before it."""
        return self.ping + self.patience + 2 * self.max_delay

    @property
    def travel(self) -> float:
        """The longest time of an event from broker to broker: every link of its path, and once a wait until
        a broker on the path is found dead and passed by."""
        return self.longest_path * self.max_delay + self.detector + self.heartbeat + self.resend

    @property
    def ttl(self) -> float:
        """The time for which a home broker goes on for a user that has left ([Zhao2011, V]: redirect).

        Three delays until every broker knows what the user wants at the foreign one (its last change of
        subscription may follow it there), then the longest travel of an event sent by what was known before;
        and as long as it takes the user to come back, should the foreign broker die meanwhile.
        """
        return 3 * self.max_delay + self.travel + self.notice

    @property
    def remember(self) -> float:
        """The time that no event exceeds on its path: two redirects in a row are far shorter."""
        return 4 * self.ttl
