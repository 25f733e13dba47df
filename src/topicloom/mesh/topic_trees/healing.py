"""What the death of a node does to its topics, and how much of it backups mend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.topic_trees.backups import join_ends
from topicloom.overlay.model.interest import Interest


@dataclass(frozen=True, slots=True)
class Healing:
    """Counts of (node, topic of it) pairs, of topics with two other subscribers or more.

    When the node dies, the others are connected at once (`whole`), or once every dialer of the dead node has
    turned to its first backup that lives (`healed`), or not even then (`broken`).
    """

    whole: int
    healed: int
    broken: int

    @property
    def share(self) -> float:
        """The share that is healed of those in need of it; 1 if none is."""
        need = self.healed + self.broken
        return self.healed / need if need else 1.0


def measure_healing(interest: Interest, links: Sequence[PlannedLink]) -> Healing:
    """Let each node die in turn and see which of its topics the others still get, or get again.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abc"])
    >>> measure_healing(interest, [Link(1, 0, (0,)), Link(2, 0, (0,), backups=(1,))])
    Healing(whole=2, healed=1, broken=0)
    """
    own: dict[int, list[PlannedLink]] = defaultdict(list)
    for link in links:
        for topic in link.topics:
            own[topic].append(link)
    whole = healed = broken = 0
    for topic in range(interest.n_topics):
        members = interest.nodes_of(topic).tolist()
        for dead in members if len(members) > 2 else ():
            left = [node for node in members if node != dead]
            kept = [
                (link.dialer, link.acceptor)
                for link in own[topic]
                if dead not in (link.dialer, link.acceptor)
            ]
            if len(kept) == len(left) - 1:
                whole += 1
                continue
            orphans = [link for link in own[topic] if link.acceptor == dead]
            turned = [(link.dialer, backup) for link in orphans for backup in link.backups[:1]]
            if len(set(join_ends(left, kept + turned).values())) == 1:
                healed += 1
            else:
                broken += 1
    return Healing(whole, healed, broken)
