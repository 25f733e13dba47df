"""A view kept up to date by shuffles, after Cyclon (Voulgaris, Gavidia, van Steen, 2005).

Every period a node sends a few of the descriptors it holds, and a new one of itself, to the node that it has
not heard of for longest, and gets as many back. Descriptors wander and are not copied, so views are like
uniform samples of all nodes (what [Chockler2007b, 3.7] asks of a membership service), and a dead node is
soon the oldest everywhere, does not answer, and is forgotten. Unlike in Cyclon the answer also begins with a
new descriptor of its sender, and a full view drops its oldest: descriptors live half as long, at no cost.

Nodes that share a topic are also noted in a side table (`related_nodes.py`), which is never passed on.
No clock is shared: a descriptor carries its age, kept here as the local time when its node said so.
"""

from __future__ import annotations

from math import inf

from topicloom.spidercast.protocol.gossip_view import GossipView
from topicloom.spidercast.protocol.messages import Descriptor, NodeId, Shuffle, ShuffleReply
from topicloom.spidercast.protocol.related_nodes import Known

QUICK = 3  # answers to one node in a beat: while it begins, its oldest partner may be the same soon
FAST_ROUNDS = 12  # exchanges that a node begins with, ten in a period: its first neighbors should be good


class Gossip(GossipView):
    """The membership of one node by gossip; `seeds` are entry points, used whenever nobody else is known."""

    def start(self, now: float) -> None:
        """Begin at a random moment of the period: otherwise all entry points would be asked at once."""
        self._enter(now)
        settings, draw = self._context.settings, self._context.rng.random
        self._fast = FAST_ROUNDS
        self._next = now + draw() * settings.gossip_period / 10
        self._ask_seed = now + (1 + draw()) * settings.gossip_seed

    def warm_up(self) -> float:
        return self._context.settings.gossip_period

    def receive(self, peer: NodeId, message: Shuffle | ShuffleReply, now: float) -> None:
        """Take what is valid in it; an answer that was not asked for is ignored."""
        if peer == self._context.name:
            return
        if isinstance(message, Shuffle):
            if not self._context.answers.may_answer(Shuffle, peer, now, most=QUICK):
                return
            sent = self._sample(peer)
            self._context.send(peer, ShuffleReply(self._descriptors(sent, now)))
        elif peer == self._partner:
            self._partner, sent = None, self._sent
        else:
            return
        # Everybody asks an entry point: in all views it would be known far too well.
        left_out = peer if self._asked_seed and isinstance(message, ShuffleReply) else None
        self._merge(peer, message.descriptors, sent, left_out, now)

    def next_timer(self) -> float:
        return self._next

    def handle_timer(self, now: float) -> None:
        if now < self._next:
            return
        period = self._context.settings.gossip_period
        self._next = now + (period / 10 if self._fast > 0 else period)
        self._fast -= 1
        if self._partner is not None:
            self._drop(self._partner)
            self._partner = None
        self._forget_old(now)
        if not self._view:
            self._enter(now)
        if self._view:
            self._shuffle(self._next_partner(now), now)

    def _next_partner(self, now: float) -> NodeId:
        """Return the node that was not heard of for longest; now and then an entry point.

        After a long cut nobody knows a node of the other side any more, however full the views are.
        """
        self._asked_seed = self._ask_seed <= now
        if self._asked_seed:
            self._ask_seed = now + self._context.settings.gossip_seed
            seeds = [seed.node for seed in self._seeds if seed.node != self._context.name]
            if seeds:
                return seeds[self._context.rng.randrange(len(seeds))]
        return min(self._view, key=lambda node: self._view[node].since)

    def _shuffle(self, partner: NodeId, now: float) -> None:
        # As in Cyclon the partner leaves the view now; its answer brings it back, silence does not.
        self._view.pop(partner, None)
        self._partner, self._sent = partner, self._sample(partner)
        self._context.send(partner, Shuffle(self._descriptors(self._sent, now)))

    def _enter(self, now: float) -> None:
        """Begin (again) with the entry points, in random order: not all nodes should ask the same one."""
        seeds = [seed for seed in self._seeds if seed.node != self._context.name]
        self._context.rng.shuffle(seeds)
        for seed in seeds:
            self._gone.pop(seed.node, None)
            self._context.addresses.note(seed.node, seed.address)
            self._learn(seed.node, Known(seed.life, seed.version, now, seed.interest), [], evict=False)

    def _merge(
        self,
        peer: NodeId,
        descriptors: tuple[Descriptor, ...],
        sent: list[NodeId],
        left_out: NodeId | None,
        now: float,
    ) -> None:
        """Put what came in the places of what was sent: descriptors are exchanged, not copied.

        What `peer` says of itself beats all that others say of it; `left_out` gets no place by that.
        """
        context = self._context
        places = [node for node in sent if node in self._view]
        for told in descriptors[: self._count]:
            # An age that is no number fails the comparison too.
            if told.node == self._context.name or not 0 <= told.age <= self._forget or told.version < 0:
                continue
            own = told.node == peer
            known = Known(told.life, told.version, now - told.age, told.interest, told.roots, own)
            context.addresses.note(told.node, told.address, first_hand=own)
            if own:
                self._trust(peer, known)
                if peer == left_out:
                    continue
            if told.roots and context.roots is not None and context.roots.differ(told.roots, known.since):
                context.suspect(told.node)
            last, when = self._gone.get(told.node, ((-1, -1), -inf))
            if known[:2] > last or known.since > when:
                self._gone.pop(told.node, None)
                self._learn(told.node, known, places, evict=True)
