"""Everything one node may say to another. Plain values, no behaviour.

`task` says which of the two maintenance tasks [Chockler2007b, 2.3] a message belongs to: each keeps its
own neighbors, and a live link exists while at least one of them wants it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from msgspec import Struct

from topicloom.wire.messages import Codec, Period, WireMessage

NodeId: TypeAlias = int | str
Topic: TypeAlias = int | str
Topics: TypeAlias = frozenset[int | str]
# The few topics that two neighbors share: a tuple takes a third of the memory of a set.
SharedTopics: TypeAlias = tuple[int | str, ...]
# The root of a topic as a node sees it: the root's life and name, and the hops to it. The smaller one wins.
Root: TypeAlias = tuple[int, NodeId, int]
Roots: TypeAlias = dict[Topic, Root]
RootNames: TypeAlias = dict[Topic, tuple[int, NodeId]]  # life and name alone


class TaskId(IntEnum):
    """The two maintenance tasks of a node."""

    GREEDY = 0
    RANDOM = 1


class _OfTask(WireMessage, frozen=True):
    task: TaskId


class _Standing(_OfTask, frozen=True):
    degree: int
    target: int
    version: int  # counts the changes of interest in this life


class Introduction(_Standing, frozen=True):
    """`life` is the sender's incarnation; `roots` are those of all its topics after the change `number`;
    `heartbeat` and `detector` are its periods (0: it does not say), `address` is where it can be reached."""

    interest: Topics
    life: int = 0
    number: int = 0
    roots: Roots = {}  # noqa: RUF012 - msgspec copies it
    heartbeat: Period = 0.0
    detector: Period = 0.0
    address: str = ""


class Heartbeat(_Standing, frozen=True):
    """I am alive, and this is my state. A node sends the same object until something in it changes.

    `roots` are those that changed with the change `number`: whoever missed one before it asks.
    """

    life: int = 0
    number: int = 0
    roots: Roots = {}  # noqa: RUF012 - msgspec copies it


class Connect(Introduction, frozen=True):
    """May I be your neighbor? With what you need to judge me later."""


class ConnectOk(Introduction, frozen=True):
    """You are my neighbor now."""


class Redirect(_OfTask, frozen=True):
    """I have too many neighbors; try this one of them, if any is named."""

    node: NodeId | None
    interest: Topics
    address: str = ""


class Disconnect(_OfTask, frozen=True):
    """I could do without you; can you do without me? Silence means no."""


class DisconnectOk(_OfTask, frozen=True):
    """I could, and you are no longer my neighbor."""


class Leave(_OfTask, frozen=True):
    """You are not (or no longer) my neighbor, whatever you think; `gone`: I leave the overlay altogether."""

    gone: bool = False


class AskInterest(WireMessage, frozen=True):
    """Your heartbeat names a version of your interest, or a change of your roots, that I have not seen."""


class TellInterest(WireMessage, frozen=True):
    """This is what I want now, and the roots of all that."""

    version: int
    interest: Topics
    life: int = 0
    number: int = 0
    roots: Roots = {}  # noqa: RUF012 - msgspec copies it


class Probe(WireMessage, frozen=True):
    """These are the roots of my topics, as they have been for a while. Do you know others?"""

    roots: RootNames


class Descriptor(Struct, frozen=True, gc=False, array_like=True):
    """What gossip says of a node: `age` in seconds since the node itself said so.

    `roots` are those of its topics that had been the same for a while; `address` is where it can be reached.
    """

    node: NodeId
    version: int
    age: float
    interest: Topics
    life: int = 0
    address: str = ""
    roots: RootNames = {}


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
    `age` the seconds since it was published, as far as the clocks of the nodes on its path can tell;
    `signature` is the publisher's, if it has a key."""

    id: EventId
    previous: int
    hops: int
    age: float
    payload: bytes
    signature: bytes = b""


class Have(WireMessage, frozen=True):
    """I hold these events (beside them their `ages`, and the `hops` they would have with you); ask if you
    miss one."""

    ids: tuple[EventId, ...]
    ages: tuple[float, ...]
    hops: tuple[int, ...] = ()


class Want(WireMessage, frozen=True):
    """Send me these, and from now on all events of their topics (Plumtree's graft)."""

    ids: tuple[EventId, ...]


class Graft(WireMessage, frozen=True):
    """Send me all events of this topic from now on: your path to their publishers is shorter."""

    topic: Topic


class Prune(WireMessage, frozen=True):
    """I get this topic's events faster from others: from now on only tell me that you have them."""

    topic: Topic


EventMessage: TypeAlias = Event | Have | Want | Graft | Prune
Message: TypeAlias = (
    Connect | ConnectOk | Redirect | Disconnect | DisconnectOk | Leave | Heartbeat
    | AskInterest | TellInterest | Probe | Shuffle | ShuffleReply | EventMessage
)  # fmt: skip
CODEC: Codec[Message] = Codec(Message)
