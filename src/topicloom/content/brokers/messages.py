"""Everything that users and brokers say to each other [Zhao2011, V]. Plain values.

A `Letter` carries a body that must arrive (see `letters.py`): exactly once while both ends live. Signs of
life travel without one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

Name: TypeAlias = int | str
Range: TypeAlias = tuple[float, float]
"""Half-open: low <= value < high."""
Box: TypeAlias = tuple[Range, ...]
"""One subscription: a range per attribute, (-inf, inf) where it does not care."""
Wants: TypeAlias = tuple[Box, ...]
Rates: TypeAlias = tuple[tuple[int, float], ...]
"""(channel, messages per second), ascending channels; what is not listed is 0."""
Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Of channels, both ends included; ascending, never touching."""
Point: TypeAlias = tuple[float, ...]


class EventId(Struct, frozen=True, gc=False, array_like=True):
    """A published event: its publisher and its number there, rising by one with each event."""

    publisher: Name
    number: int


class Event(Struct, frozen=True, gc=False, array_like=True):
    """A published event: a value per attribute, and what the publisher has to say."""

    id: EventId
    point: Point
    payload: bytes


# -- user to broker ---------------------------------------------------------------------------------------


class Register(Struct, frozen=True, gc=False, tag="register"):
    """Be my broker, under this term. `before` are brokers that may hold events for me.

    `rates` are what the user says it will publish; None: the broker shall count. `force`: every broker I
    know refused me, so take me without room.
    """

    term: int
    version: int
    wants: Wants
    rates: Rates | None
    before: tuple[Name, ...]
    force: bool = False


class Connect(Struct, frozen=True, gc=False, tag="connect"):
    """As Register, for a move that my home broker prepared with you."""

    term: int
    move: int
    version: int
    wants: Wants
    rates: Rates | None
    before: tuple[Name, ...]


class Subscribe(Struct, frozen=True, gc=False, tag="subscribe"):
    """This is what I want (and say I will publish) from now on."""

    version: int
    wants: Wants
    rates: Rates | None


class Publish(Struct, frozen=True, gc=False, tag="publish"):
    """Bring this event to all who want it."""

    event: Event


class Accept(Struct, frozen=True, gc=False, tag="accept"):
    """Yes, I will move."""

    move: int


class Decline(Struct, frozen=True, gc=False, tag="decline"):
    """No, I stay."""

    move: int


class Leave(Struct, frozen=True, gc=False, tag="leave"):
    """I leave the system."""

    term: int


# -- broker to user ---------------------------------------------------------------------------------------


class Welcome(Struct, frozen=True, gc=False, tag="welcome"):
    """I am your broker under this term."""

    term: int


class Refused(Struct, frozen=True, gc=False, tag="refused"):
    """I have no room for you."""

    term: int


class RequestToMove(Struct, frozen=True, gc=False, tag="request-to-move"):
    """Would you move to this broker?"""

    move: int
    foreign: Name


class Ready(Struct, frozen=True, gc=False, tag="ready"):
    """The foreign broker knows all about you: connect to it."""

    move: int
    foreign: Name


class Delivery(Struct, frozen=True, gc=False, tag="delivery"):
    """An event that you want."""

    event: Event


# -- broker to broker ---------------------------------------------------------------------------------------


class News(Struct, frozen=True, gc=False, tag="news"):
    """What the sender's users want and publish all together, its load and capacity; None: as before.

    `wants` says what events to send; it includes users that have left, for whom the sender redirects.
    `ranges` of channels are those of the users that it has: who reckons what a move would cost needs these,
    or a user could be drawn back by its own shadow.
    """

    version: int
    wants: Wants | None
    rates: Rates | None
    ranges: Ranges
    load: float
    capacity: float


class AskNews(Struct, frozen=True, gc=False, tag="ask-news"):
    """I had given you up and know nothing of you any more."""


class Forward(Struct, frozen=True, gc=False, tag="forward"):
    """An event with the rest of its path: (from, to) links of a tree whose root is the receiver."""

    event: Event
    tree: tuple[tuple[Name, Name], ...]


class Replicate(Struct, frozen=True, gc=False, tag="replicate"):
    """All that I know about a user that is about to move to you; may it?

    `counted` are the rates that I summarized, `demand` what I think passes its link.
    """

    move: int
    user: Name
    term: int
    version: int
    wants: Wants
    rates: Rates | None
    counted: Rates
    demand: float


class Replicated(Struct, frozen=True, gc=False, tag="replicated"):
    """It may: there is room, and I keep it free for a while."""

    move: int
    user: Name


class NoRoom(Struct, frozen=True, gc=False, tag="no-room"):
    """It may not."""

    move: int
    user: Name


class Cancel(Struct, frozen=True, gc=False, tag="cancel"):
    """The move will not be: keep no room for it."""

    move: int
    user: Name


class TookOver(Struct, frozen=True, gc=False, tag="took-over"):
    """The user is mine under this term: hand over what you have for it, and redirect what still comes."""

    user: Name
    term: int


class HandedOver(Struct, frozen=True, gc=False, tag="handed-over"):
    """Here is what I have for it."""

    user: Name
    term: int
    events: tuple[Event, ...]


class Redirect(Struct, frozen=True, gc=False, tag="redirect"):
    """This came to me for a user that is yours now."""

    user: Name
    event: Event


Body: TypeAlias = (
    Register | Connect | Subscribe | Publish | Accept | Decline | Leave
    | Welcome | Refused | RequestToMove | Ready | Delivery
    | News | AskNews | Forward | Replicate | Replicated | NoRoom | Cancel | TookOver | HandedOver | Redirect
)  # fmt: skip
EVENT_BODIES = (Publish, Delivery, Forward, Redirect)
"""Bodies that carry events on their ordinary way; all others are control."""
Handlers: TypeAlias = dict[type, Callable[..., None]]
"""What to do about a body, by its kind: called with (sender, body, now)."""


class Letter(Struct, frozen=True, gc=False, tag="letter"):
    """A body that must arrive. `life` rises with each start of the sender, `number` with each of its
    letters to anybody; of those to this receiver it waits for no receipt up to `settled`."""

    life: int
    number: int
    settled: int
    body: Body


class Receipt(Struct, frozen=True, gc=False, tag="receipt"):
    """The letter has arrived."""

    life: int
    number: int


class Beat(Struct, frozen=True, gc=False, tag="beat"):
    """Broker to broker: I live."""

    life: int


class Ping(Struct, frozen=True, gc=False, tag="ping"):
    """User to broker: are you still my broker under this term?"""

    term: int


class Pong(Struct, frozen=True, gc=False, tag="pong"):
    """Broker to user: yes, or no."""

    term: int
    yours: bool


Message: TypeAlias = Letter | Receipt | Beat | Ping | Pong
