"""Everything that users and brokers say to each other [Zhao2011, V]. Plain values.

A `Letter` carries a body that must arrive (see `letters.py`): exactly once while both ends live. Signs of
life travel without one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from topicloom.wire.messages import Codec, WireMessage

Name: TypeAlias = int | str
Range: TypeAlias = tuple[float, float]  # half-open: low <= value < high
Box: TypeAlias = tuple[Range, ...]  # one subscription: a range per attribute, (-inf, inf) for any value
Wants: TypeAlias = tuple[Box, ...]
Rates: TypeAlias = tuple[tuple[int, float], ...]  # (channel, messages per second), ascending; 0 if not listed
Ranges: TypeAlias = tuple[tuple[int, int], ...]  # of channels, both ends included; ascending, never touching
Point: TypeAlias = tuple[float, ...]


class EventId(Struct, frozen=True, gc=False, array_like=True):
    """A published event: its publisher and its number there, rising by one with each event."""

    publisher: Name
    number: int


class Event(Struct, frozen=True, gc=False, array_like=True):
    """A published event: a value per attribute, and the publisher's payload."""

    id: EventId
    point: Point
    payload: bytes


class _OfTerm(WireMessage, frozen=True):
    term: int


# -- user to broker -----------------------------------------------------------------------------------------


class Attempt(_OfTerm, frozen=True):
    """Be my broker, under this term. `before` are brokers that may hold events for me.

    `rates` are what the user says it will publish; None: the broker shall count.
    """

    version: int
    wants: Wants
    rates: Rates | None
    before: tuple[Name, ...]


class Register(Attempt, frozen=True):
    """`force`: every broker I know refused me, so take me even if there is no room."""

    force: bool = False


class Connect(Attempt, frozen=True):
    """For a move that my home broker prepared with you."""

    move: int


class Subscribe(WireMessage, frozen=True):
    """This is what I want (and say I will publish) from now on."""

    version: int
    wants: Wants
    rates: Rates | None


class _OfEvent(WireMessage, frozen=True):
    event: Event


class Publish(_OfEvent, frozen=True):
    """Deliver this event to all who want it."""


class _OfMove(WireMessage, frozen=True):
    move: int


class Accept(_OfMove, frozen=True):
    """Yes, I will move."""


class Decline(_OfMove, frozen=True):
    """No, I stay."""


class Leave(_OfTerm, frozen=True):
    """I leave the system."""


# -- broker to user -----------------------------------------------------------------------------------------


class Welcome(_OfTerm, frozen=True):
    """I am your broker under this term."""


class Refused(_OfTerm, frozen=True):
    """I have no room for you."""


class _MoveTo(_OfMove, frozen=True):
    foreign: Name


class RequestToMove(_MoveTo, frozen=True):
    """Would you move to this broker?"""


class Ready(_MoveTo, frozen=True):
    """The foreign broker knows all about you: connect to it."""


class Delivery(_OfEvent, frozen=True):
    """An event that you want."""


# -- broker to broker ---------------------------------------------------------------------------------------


class News(WireMessage, frozen=True):
    """What the sender's users want and publish all together, its load and capacity; None: as before.

    `wants` says what events to send; it includes users that have left, for whom the sender redirects.
    `ranges` of channels cover only the users that it has now: the cost of a move is computed from these, or
    a user could be drawn back to a broker by the wants it left behind there.
    """

    version: int
    wants: Wants | None
    rates: Rates | None
    ranges: Ranges
    load: float
    capacity: float


class AskNews(WireMessage, frozen=True):
    """I had given you up and know nothing of you any more."""


class Forward(_OfEvent, frozen=True):
    """An event with the rest of its path: (from, to) links of a tree whose root is the receiver."""

    tree: tuple[tuple[Name, Name], ...]


class _MoveOfUser(_OfMove, frozen=True):
    user: Name


class Replicate(_MoveOfUser, frozen=True):
    """All that I know about a user that is about to move to you; may it?

    `counted` are the rates that I summarized, `demand` what I think passes its link.
    """

    term: int
    version: int
    wants: Wants
    rates: Rates | None
    counted: Rates
    demand: float


class Replicated(_MoveOfUser, frozen=True):
    """It may: there is room, and I reserve it for a while."""


class NoRoom(_MoveOfUser, frozen=True):
    """It may not."""


class Cancel(_MoveOfUser, frozen=True):
    """The move is off: reserve no room for it."""


class TookOver(WireMessage, frozen=True):
    """The user is mine under this term: hand over what you have for it, and redirect what still comes."""

    user: Name
    term: int


class HandedOver(WireMessage, frozen=True):
    """Here is what I have for it."""

    user: Name
    term: int
    events: tuple[Event, ...]


class Redirect(WireMessage, frozen=True):
    """This came to me for a user that is yours now."""

    user: Name
    event: Event


Body: TypeAlias = (
    Register | Connect | Subscribe | Publish | Accept | Decline | Leave
    | Welcome | Refused | RequestToMove | Ready | Delivery
    | News | AskNews | Forward | Replicate | Replicated | NoRoom | Cancel | TookOver | HandedOver | Redirect
)  # fmt: skip
EVENT_BODIES = (Publish, Delivery, Forward, Redirect)  # all other bodies are control
Handlers: TypeAlias = dict[type, Callable[..., None]]  # by kind of body: called with (sender, body, now)


# -- letters and signs of life ------------------------------------------------------------------------------


class Letter(WireMessage, frozen=True):
    """A body that must arrive. `life` rises with each start of the sender, `number` with each of its letters
    to anybody; of its letters to this receiver, none up to `settled` still waits for a receipt."""

    life: int
    number: int
    settled: int
    body: Body


class Receipt(WireMessage, frozen=True):
    """The letter has arrived."""

    life: int
    number: int


class Beat(WireMessage, frozen=True):
    """Broker to broker: I am alive."""

    life: int


class Ping(_OfTerm, frozen=True):
    """User to broker: are you still my broker under this term?"""


class Pong(_OfTerm, frozen=True):
    """Broker to user: yes, or no."""

    yours: bool


Message: TypeAlias = Letter | Receipt | Beat | Ping | Pong
CODEC: Codec[Message] = Codec(Message)
