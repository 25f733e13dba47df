"""What the parts of one node share and keep: its context, its neighbors, its open requests. State only."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from topicloom.spidercast.protocol.addresses import Addresses
from topicloom.spidercast.protocol.answers import Answers
from topicloom.spidercast.protocol.goals import Goal
from topicloom.spidercast.protocol.messages import (
    Heartbeat,
    Introduction,
    Message,
    NodeId,
    SharedTopics,
    Topics,
)
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Effect, Send

if TYPE_CHECKING:
    from topicloom.spidercast.protocol.roots import TopicRoots
    from topicloom.spidercast.protocol.signing import EventKeys

MAX_SUSPECTS = 16
MOST_UNREAD = 1024  # heartbeats that are put off at the same time
MOST_UNREAD_ROOTS = 1 << 15  # of roots that they may have in all, were all as large as the one that comes
MAX_REDIRECTS = 32  # nodes named by others that are remembered; the oldest go first
MAX_NAMED = 4  # of these, named by one and the same node


@dataclass(slots=True)
class NodeContext:
    """Shared by the parts of a node; only `Node` changes `interest` and `version`.

    `life` is the incarnation, higher after each restart; `version` counts the changes of interest in it.
    `unread` holds what neighbors said, while heartbeats are put off (None: they are read at once).
    """

    name: NodeId
    interest: Topics
    version: int
    settings: ProtocolSettings
    rng: Random
    effects: list[Effect] = field(default_factory=list)
    life: int = 0
    address: str = ""
    keys: EventKeys | None = None
    roots: TopicRoots | None = None
    suspects: dict[NodeId, None] = field(default_factory=dict)  # they may be in another component of a topic
    unread: list[tuple[NodeId, Heartbeat]] | None = None
    addresses: Addresses = field(default_factory=Addresses)
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        self.answers = Answers(self.settings.heartbeat)

    def suspect(self, node: NodeId) -> None:
        """Note that `node` names another root, by what others say of it."""
        if len(self.suspects) < MAX_SUSPECTS:
            self.suspects[node] = None

    def send(self, to: NodeId, message: Message) -> None:
        self.effects.append(Send((to,), message))


class EventCounts(NamedTuple):
    """Events of one node: those that came again, those that came by repair, those that came too late to
    be delivered; and the bytes of those that it holds for others."""

    duplicates: int
    repaired: int
    late: int
    held_bytes: int


class Neighbor:
    """A neighbor: its last heartbeat, and what we asked of it."""

    __slots__ = (
        "asked",
        "degree",
        "doubted",
        "heard",
        "heartbeat",
        "interest",
        "life",
        "shared",
        "target",
        "unread",
        "version",
        "would_part",
    )

    def __init__(
        self,
        message: Introduction,
        shared: SharedTopics,
        now: float,
        unread: list[tuple[NodeId, Heartbeat]] | None = None,
    ) -> None:
        self.degree, self.target = message.degree, message.target
        self.life, self.version, self.interest = message.life, message.version, message.interest
        self.shared = shared
        self.heard = now
        self.asked = -inf  # when we sent DISCONNECT
        self.doubted = False
        self.would_part = 0  # it sent DISCONNECT and we needed it: 1, and more for each heartbeat since
        self.heartbeat: Heartbeat | None = None
        self.unread = unread  # where its heartbeats are put while they are put off; None: they are read


def most_unread(message: Heartbeat) -> int:
    """Return how many heartbeats there may be already for this one to be put off too: few, if it has many
    roots. Beginners put off what anybody tells them, and a message may have 65,536 roots."""
    roots = len(message.roots)
    return MOST_UNREAD if roots * MOST_UNREAD <= MOST_UNREAD_ROOTS else MOST_UNREAD_ROOTS // roots


class Requests:
    """CONNECTs that were sent recently, and nodes that were named in answer."""

    __slots__ = ("_redirects", "pending")

    def __init__(self) -> None:
        self.pending: dict[NodeId, float] = {}  # node -> end of its quarantine; in order of that
        self._redirects: dict[NodeId, tuple[Topics, NodeId]] = {}  # what it wants, and who named it

    @property
    def is_open(self) -> bool:
        """Whether a quarantine, or a node to try, is left (some quarantines may be over)."""
        return bool(self.pending or self._redirects)

    def is_asked(self, peer: NodeId, now: float) -> bool:
        """Tell whether a CONNECT to `peer` is in its quarantine; `pending` may hold older ones."""
        return self.pending.get(peer, -inf) > now

    def forget(self, now: float) -> None:
        """Drop requests whose quarantine is over."""
        while self.pending and next(iter(self.pending.values())) <= now:
            del self.pending[next(iter(self.pending))]

    def redirected(self, node: NodeId, interest: Topics, by: NodeId) -> None:
        """Note that `by` named `node` instead of itself; each may fill a few places only."""
        redirects = self._redirects
        redirects[node] = (interest, by)
        named = [other for other, (_, namer) in redirects.items() if namer == by]
        if len(named) > MAX_NAMED:
            del redirects[named[0]]
        if len(redirects) > MAX_REDIRECTS:
            del redirects[next(iter(redirects))]

    def take_redirect(self, goal: Goal) -> NodeId | None:
        """Return the first node that was named and would be of use, or None."""
        while self._redirects:
            node = next(iter(self._redirects))
            if goal.serves(self._redirects.pop(node)[0]):
                return node
        return None
