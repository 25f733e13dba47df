"""What the parts of one node share: who it is, what it wants, where effects go. State only."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from topicloom.spidercast.protocol.messages import Message, NodeId, Topics
from topicloom.spidercast.protocol.settings import Settings
from topicloom.wire.core import Effect, Send


@dataclass(slots=True)
class Context:
    """Shared by the parts of a node; only `Node` changes `interest` and `version`."""

    name: NodeId
    interest: Topics
    version: int
    settings: Settings
    rng: Random
    effects: list[Effect] = field(default_factory=list)

    def send(self, to: NodeId, message: Message) -> None:
        self.effects.append(Send((to,), message))
