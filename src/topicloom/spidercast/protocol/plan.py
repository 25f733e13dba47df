"""What the two tasks of a node strive for."""

from __future__ import annotations

from dataclasses import dataclass

from topicloom.spidercast.protocol.coverage import Coverage, Goal, Quantity
from topicloom.spidercast.protocol.membership import Choice
from topicloom.spidercast.protocol.messages import Topics


@dataclass(frozen=True, slots=True)
class Plan:
    """(K_g, K_r)-coverage, or so many similar and random links; K_r may adapt [Chockler2007b, 3.3.1]."""

    greedy: int = 3
    random: int = 0
    adaptive: bool = False
    by_coverage: bool = True

    def goals(self, interest: Topics) -> tuple[Goal, Goal]:
        if self.by_coverage:
            return Coverage(interest, self.greedy), Coverage(interest, self.random)
        return Quantity(interest, self.greedy), Quantity(interest, self.random)

    def choices(self) -> tuple[Choice, Choice]:
        return (Choice.GREEDY, Choice.COVERING) if self.by_coverage else (Choice.SIMILAR, Choice.ANYONE)
