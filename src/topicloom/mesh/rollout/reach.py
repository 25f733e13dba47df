"""Whom a message reaches wherever links with backups stand, where links carry a topic one way or both.

The least that a message reaches is looked for. A link whose dialer has the message may stand at an end that
has it too, or to which it sends nothing: then it adds nobody. Else it adds one of its ends, and each is a
case of its own. A dialer that has no message surely gets it only where all ends of a link have it and send
it. So a message always reaches somebody just if it does for every choice of ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CASES = 256  # that are looked into for one sender; if there are more, the answer is no


@dataclass(frozen=True, slots=True)
class Place:
    """Where a link may stand, and whether it carries the topic from its dialer, and to it."""

    end: str
    out: bool
    back: bool


@dataclass(frozen=True, slots=True)
class MovingLink:
    """A link with all places where it may stand."""

    dialer: str
    places: tuple[Place, ...]


class Reach:
    """What some links carry of one topic."""

    def __init__(self, links: Iterable[MovingLink]) -> None:
        self._links_of: dict[str, list[MovingLink]] = {}
        for link in links:
            for node in dict.fromkeys((link.dialer, *(place.end for place in link.places))):
                self._links_of.setdefault(node, []).append(link)

    def always(self, sender: str, hearers: set[str]) -> bool:
        """Return whether a message reaches all hearers wherever links stand; no if there are many cases."""
        cases: list[tuple[set[str], str]] = [(set(), sender)]
        looked_into = 0
        while cases:
            reached, node = cases.pop()
            looked_into += 1
            if looked_into > CASES:
                return False
            self._spread(reached, node)
            if hearers <= reached:
                continue
            fork = self._fork(reached)
            if not fork:
                return False
            cases += [({*reached}, place.end) for place in fork]
        return True

    def _spread(self, reached: set[str], node: str) -> None:
        """Add a node, and all that a message surely reaches from there."""
        left = [node]
        while left:
            node = left.pop()
            if node in reached:
                continue
            reached.add(node)
            for link in self._links_of.get(node, ()):
                if link.dialer in reached:
                    left += [place.end for place in link.places if place.out and len(link.places) == 1]
                elif all(place.back and place.end in reached for place in link.places):
                    left.append(link.dialer)

    def _fork(self, reached: set[str]) -> Sequence[Place]:
        """Return the places of a link that sends the message to somebody new wherever it stands."""
        for node in sorted(reached):
            for link in self._links_of.get(node, ()):
                if link.dialer == node and all(
                    place.out and place.end not in reached for place in link.places
                ):
                    return link.places
        return ()
