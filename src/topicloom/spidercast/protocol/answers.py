"""How often a node answers: who asks again and again, under one name or many, gets no more for it.

Questions are small and answers large (interests, roots, descriptors). So each peer gets one answer of a kind
in a beat, and all that are no neighbors a fixed number together. A question too many is as good as lost:
whoever asks in earnest asks again.
"""

from __future__ import annotations

from math import inf

from topicloom.spidercast.protocol.messages import NodeId

MOST_STRANGERS = 1024  # answers of a kind to strangers in a beat: a thousand nodes may begin at once
SHARE = 0.9  # of a beat: those who ask exactly once in a beat must never come too early


class Answers:
    """What was answered in the present beat."""

    __slots__ = ("_given", "_period", "_strangers", "_until")

    def __init__(self, period: float) -> None:
        self._period = SHARE * period
        self._until = -inf
        self._given: dict[tuple[object, NodeId], int] = {}
        self._strangers: dict[object, int] = {}

    def may_answer(
        self, kind: object, peer: NodeId, now: float, *, known: bool = False, most: int = 1
    ) -> bool:
        """Count an answer to `peer`, if it gets one. `known`: it is a neighbor; `most`: answers in a beat."""
        if now >= self._until:
            self._until = now + self._period
            self._given.clear()
            self._strangers.clear()
        if self.has_had(kind, peer, now, known=known, most=most):
            return False
        if not known:
            self._strangers[kind] = self._strangers.get(kind, 0) + 1
        self._given[kind, peer] = self._given.get((kind, peer), 0) + 1
        return True

    def has_had(self, kind: object, peer: NodeId, now: float, *, known: bool = False, most: int = 1) -> bool:
        """Tell whether `peer`, or all strangers together, had every answer of this beat."""
        if now >= self._until:
            return False
        if self._given.get((kind, peer), 0) >= most:
            return True
        return not known and self._strangers.get(kind, 0) >= MOST_STRANGERS
