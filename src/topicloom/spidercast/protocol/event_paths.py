"""Keep the paths of a topic's tree short: what an announcement tells of a path is compared with the tree's.

Crashes break a tree in many places, and what repairs it hangs on whatever is near. A path of the tree that is
much longer than another one is given up, and an event whose announcement overtakes it is asked for at once.
"""

from __future__ import annotations

from topicloom.spidercast.protocol.event_links import EventLinks
from topicloom.spidercast.protocol.event_store import Held
from topicloom.spidercast.protocol.messages import EventId, Graft, NodeId, Prune, Want

SHORTER = 2  # a path that is shorter by so many hops, or more, is taken instead


class EventPaths(EventLinks):
    """The links of a node's events, and which of them the trees take."""

    __slots__ = ()

    def _hurry(self, peer: NodeId, id: EventId) -> None:
        """Ask at once for an event whose announcement overtook it: the tree is broken, or its path so long
        that even waiting to announce was faster.

        One event of a topic at a time, and of each neighbor once until the tree breaks here: it may bring a
        duplicate, and where connections are slow announcements overtake events all the time.
        """
        links, pair = self._topics.get(id.topic, {}), (peer, id.topic)
        if links.get(peer) is not False or pair in self._hurried:
            return
        if self._missing_events.ask_at_once(id, peer):
            self._hurried.add(pair)
            links[peer] = True
            self._context.send(peer, Want((id,)))

    def _shorten(self, peer: NodeId, held: Held, hops: int, *, sent: bool = False) -> None:
        """Take `peer` for the tree in place of a link that brings events over a much longer path (Plumtree's
        optimisation): after crashes the tree would otherwise grow longer and longer.

        `sent`: `peer` sent a copy of the event, so its link is eager. One that was asked for the event, and
        has only told so far how short its path is, is not believed.
        """
        topic, source = held.event.id.topic, held.source
        if source is None or source == peer or not 0 < hops < held.hops - SHORTER:
            return
        links = self._topics.get(topic, {})
        if links.get(peer) is sent and links.get(source):
            links[peer], links[source] = True, False
            # What it still sends of this event is no duplicate to prune.
            held.source, held.hops = peer, hops + 1
            if not sent:
                self._context.send(peer, Graft(topic))
            self._context.send(source, Prune(topic))
