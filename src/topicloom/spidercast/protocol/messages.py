"""Everything one node may say to another. Plain values, no behaviour.

`task` says which of the two maintenance tasks [Chockler2007b, 2.3] a message belongs to: each keeps its
own neighbors, and a live link exists while at least one of them wants it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from msgspec import Struct

from topicloom.wire.messages import Codec, WireMessage

NodeId: TypeAlias = int | str
Topic: TypeAlias = int | str
Topics: TypeAlias = frozenset[int | str]


class TaskId(IntEnum):
    """The two maintenance tasks of a node."""

    GREEDY = 0
    RANDOM = 1


class _OfTask(WireMessage, frozen=True):
    task: TaskId


class _Standing(_OfTask, frozen=True):
    degree: int
    target: int
    version: int


class _Introduction(_Standing, frozen=True):
    interest: Topics


class Heartbeat(_Standing, frozen=True):
    """I am alive, and this is my state. A node sends the same object until something in it changes."""


class Connect(_Introduction, frozen=True):
    """May I be your neighbor? With what you need to judge me later."""


class ConnectOk(_Introduction, frozen=True):
    """You are my neighbor now."""


class Redirect(_OfTask, frozen=True):
    """I have too many neighbors; try this one of them, if any is named."""

    node: NodeId | None
    interest: Topics


class Disconnect(_OfTask, frozen=True):
    """I could do without you; can you do without me? Silence means no."""


class DisconnectOk(_OfTask, frozen=True):
    """I could, and you are no longer my neighbor."""


class Leave(_OfTask, frozen=True):
    """You are not (or no longer) my neighbor, whatever you think; `gone`: I leave the overlay altogether."""

    gone: bool = False


class AskInterest(WireMessage, frozen=True):
    """Your heartbeat names a version of your interest that I have not seen."""


class TellInterest(WireMessage, frozen=True):
    """This is what I want now."""

    version: int
    interest: Topics


class Descriptor(Struct, frozen=True, gc=False, array_like=True):
    """What gossip says of a node: `age` in seconds since the node itself said so."""

    node: NodeId
    version: int
    age: float
    interest: Topics


class _Descriptors(WireMessage, frozen=True):
    descriptors: tuple[Descriptor, ...]


class Shuffle(_Descriptors, frozen=True):
    """Some nodes that I know, the first of them myself; send me as many of yours."""


class ShuffleReply(_Descriptors, frozen=True):
    """Some nodes that I know, in exchange for those that you sent."""


class EventId(Struct, frozen=True, gc=False, array_like=True):
    """A published event: its publisher, its topic, and its number there.

    Numbers of one publisher on one topic rise, also over restarts; there may be gaps.
    """

    publisher: NodeId
    topic: Topic
    number: int


class Event(WireMessage, frozen=True):
    """The event itself. `previous` is the number before it by the same publisher on the topic (0: none);
    `age` the seconds since it was published, as far as the clocks of the nodes on its path can tell."""

    id: EventId
    previous: int
    hops: int
    age: float
    payload: bytes


class Have(WireMessage, frozen=True):
    """I hold these events (`ages` beside them); ask if you miss one."""

    ids: tuple[EventId, ...]
    ages: tuple[float, ...]


class Want(WireMessage, frozen=True):
    """Send me these, and from now on all events of their topics (Plumtree's graft)."""

    ids: tuple[EventId, ...]


class Prune(WireMessage, frozen=True):
    """I get this topic's events faster from others: from now on only tell me that you have them."""

    topic: Topic


EventMessage: TypeAlias = Event | Have | Want | Prune
Message: TypeAlias = (
    Connect | ConnectOk | Redirect | Disconnect | DisconnectOk | Leave | Heartbeat
    | AskInterest | TellInterest | Shuffle | ShuffleReply | EventMessage
)  # fmt: skip
CODEC: Codec[Message] = Codec(Message)
