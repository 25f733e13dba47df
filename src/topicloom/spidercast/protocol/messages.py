"""Everything one node may say to another. Plain values: no behaviour, nothing of the wire's bytes.

`task` says which of the two maintenance tasks [Chockler2007b, 2.3] a message belongs to: each keeps its
own neighbors, and a live link exists while at least one of them wants it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from msgspec import Struct

NodeId: TypeAlias = int | str
Topic: TypeAlias = int | str
Topics: TypeAlias = frozenset[int | str]


class TaskId(IntEnum):
    """The two maintenance tasks of a node."""

    GREEDY = 0
    RANDOM = 1


class Connect(Struct, frozen=True, gc=False, tag="connect"):
    """May I be your neighbor? With what you need to judge me later."""

    task: TaskId
    degree: int
    target: int
    version: int
    interest: Topics


class ConnectOk(Struct, frozen=True, gc=False, tag="connect-ok"):
    """You are my neighbor now."""

    task: TaskId
    degree: int
    target: int
    version: int
    interest: Topics


class Redirect(Struct, frozen=True, gc=False, tag="redirect"):
    """I have too many neighbors; try this one of them, if any is named."""

    task: TaskId
    node: NodeId | None
    interest: Topics


class Disconnect(Struct, frozen=True, gc=False, tag="disconnect"):
    """I could do without you; can you do without me? Silence means no."""

    task: TaskId


class DisconnectOk(Struct, frozen=True, gc=False, tag="disconnect-ok"):
    """I could, and you are no longer my neighbor."""

    task: TaskId


class Leave(Struct, frozen=True, gc=False, tag="leave"):
    """You are not (or no longer) my neighbor, whatever you think; `gone`: I leave the overlay altogether."""

    task: TaskId
    gone: bool = False


class Heartbeat(Struct, frozen=True, gc=False, tag="heartbeat"):
    """I am alive, and this is how I stand. A node sends the same object until something in it changes."""

    task: TaskId
    degree: int
    target: int
    version: int


class AskInterest(Struct, frozen=True, gc=False, tag="ask-interest"):
    """Your heartbeat names a version of your interest that I have not seen."""


class TellInterest(Struct, frozen=True, gc=False, tag="tell-interest"):
    """This is what I want now."""

    version: int
    interest: Topics


class Descriptor(Struct, frozen=True, gc=False, array_like=True):
    """What gossip says of a node: `age` in seconds since the node itself said so."""

    node: NodeId
    version: int
    age: float
    interest: Topics


class Shuffle(Struct, frozen=True, gc=False, tag="shuffle"):
    """Some nodes that I know, the first of them myself; send me as many of yours."""

    descriptors: tuple[Descriptor, ...]


class ShuffleReply(Struct, frozen=True, gc=False, tag="shuffle-reply"):
    """Some nodes that I know, for those that you sent."""

    descriptors: tuple[Descriptor, ...]


class EventId(Struct, frozen=True, gc=False, array_like=True):
    """A published event: its publisher, its topic, and its number there.

    Numbers of one publisher on one topic rise, also over restarts; they need not be without gaps.
    """

    publisher: NodeId
    topic: Topic
    number: int


class Event(Struct, frozen=True, gc=False, tag="event"):
    """The event itself. `previous` is the number before it by the same publisher on the topic (0: none);
    `age` the seconds since it was published, as far as the holders' clocks can tell."""

    id: EventId
    previous: int
    hops: int
    age: float
    payload: bytes


class Have(Struct, frozen=True, gc=False, tag="have"):
    """I hold these events (`ages` beside them); ask if you miss one."""

    ids: tuple[EventId, ...]
    ages: tuple[float, ...]


class Want(Struct, frozen=True, gc=False, tag="want"):
    """Send me these, and from now on all events of their topics (Plumtree's graft)."""

    ids: tuple[EventId, ...]


class Prune(Struct, frozen=True, gc=False, tag="prune"):
    """I get this topic's events faster from others: from now on only tell me that you have them."""

    topic: Topic


Message: TypeAlias = (
    Connect
    | ConnectOk
    | Redirect
    | Disconnect
    | DisconnectOk
    | Leave
    | Heartbeat
    | AskInterest
    | TellInterest
    | Shuffle
    | ShuffleReply
    | Event
    | Have
    | Want
    | Prune
)
