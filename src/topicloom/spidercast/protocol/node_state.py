"""What the parts of one node share and keep: its context, its neighbors, its open requests. State only."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from random import Random

from topicloom.spidercast.protocol.goals import Goal
from topicloom.spidercast.protocol.messages import Heartbeat, Message, NodeId, Topics
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Effect, Send

MAX_REDIRECTS = 32  # nodes named by others that are remembered; the oldest go first


@dataclass(slots=True)
class NodeContext:
    """Shared by the parts of a node; only `Node` changes `interest` and `version`."""

    name: NodeId
    interest: Topics
    version: int
    settings: ProtocolSettings
    rng: Random
    effects: list[Effect] = field(default_factory=list)

    def send(self, to: NodeId, message: Message) -> None:
        self.effects.append(Send((to,), message))


class Neighbor:
    """A neighbor: its last heartbeat, and what we asked of it."""

    __slots__ = (
        "asked",
        "degree",
        "doubted",
        "heard",
        "heartbeat",
        "interest",
        "shared",
        "target",
        "version",
    )

    def __init__(self, degree: int, target: int, version: int, interest: Topics, shared: Topics, now: float):
        self.degree, self.target = degree, target
        self.version, self.interest, self.shared = version, interest, shared
        self.heard = now
        self.asked = -inf  # when we sent DISCONNECT
        self.doubted = False
        self.heartbeat: Heartbeat | None = None


class Requests:
    """CONNECTs that were sent recently, and nodes that were named in answer."""

    __slots__ = ("_redirects", "pending")

    def __init__(self) -> None:
        self.pending: dict[NodeId, float] = {}  # node -> end of its quarantine; in order of that
        self._redirects: dict[NodeId, Topics] = {}

    def is_asked(self, peer: NodeId, now: float) -> bool:
        """Tell whether a CONNECT to `peer` is in its quarantine; `pending` may hold older ones."""
        return self.pending.get(peer, -inf) > now

    def forget(self, now: float) -> None:
        """Drop requests whose quarantine is over."""
        while self.pending and next(iter(self.pending.values())) <= now:
            del self.pending[next(iter(self.pending))]

    def redirected(self, node: NodeId, interest: Topics) -> None:
        """Note that somebody named `node` instead of itself."""
        self._redirects[node] = interest
        if len(self._redirects) > MAX_REDIRECTS:
            del self._redirects[next(iter(self._redirects))]

    def take_redirect(self, goal: Goal) -> NodeId | None:
        """Return the first node that was named and would be of use, or None."""
        while self._redirects:
            node = next(iter(self._redirects))
            if goal.serves(self._redirects.pop(node)):
                return node
        return None
