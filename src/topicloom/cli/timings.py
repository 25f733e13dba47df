"""Where the time of a command goes: by the phases that it shows, gathered under a few names."""

from __future__ import annotations

import re
import time

from topicloom.cli import BEGAN

# What a phase belongs to, by how its name begins; the phases of builders and simulations are `work`.
KINDS = {
    "start": "start Spark",
    "read": "read|load|number|check log|(sort|count) (nodes|topics)|(count|hash) pairs",
    "prove": "verify",
    "write": "write|draw",
}
TOLD = {
    "imports": "imports and options",
    "start": "start of Spark",
    "read": "read",
    "work": "build or other work",
    "prove": "prove",
    "write": "write",
    "rest": "the rest",
}


class Timings:
    """A clock that is told which phase begins."""

    def __init__(self) -> None:
        self._kind, self._since = "imports", BEGAN
        self.seconds = dict.fromkeys(TOLD, 0.0)

    def begin(self, phase: str | None) -> None:
        """Count the time since the last call; None: nothing that has a name begins."""
        now = time.monotonic()
        self.seconds[self._kind] += now - self._since
        self._kind, self._since = "rest" if phase is None else kind_of(phase), now

    def figures(self) -> dict[str, float]:
        """Return the seconds so far and their total."""
        self.begin(None)
        return {**self.seconds, "total": sum(self.seconds.values())}

    def told(self) -> str:
        """Return them in one line."""
        found = self.figures()
        parts = [f"{TOLD[kind]} {found[kind]:.2f} s" for kind in TOLD if found[kind] >= 0.005]
        return f"where {found['total']:.2f} s went: {', '.join(parts)}"


def kind_of(phase: str) -> str:
    """Return what a phase belongs to.

    >>> kind_of("start Spark"), kind_of("number pairs"), kind_of("verify: count"), kind_of("greedy")
    ('start', 'read', 'prove', 'work')
    """
    return next((kind for kind, begins in KINDS.items() if re.match(begins, phase)), "work")
