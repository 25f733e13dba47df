"""What travels between clients and brokers: letters with bodies, their receipts, and signs of life.

A `Letter` is for what must arrive (see `post.py`): it brings its body exactly once to the receiver as long as
both ends live. Signs of life travel bare.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from topicloom.content.brokers.messages import Body


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
    """Client to broker: are you still my broker under this term?"""

    term: int


class Pong(Struct, frozen=True, gc=False, tag="pong"):
    """Broker to client: yes, or no."""

    term: int
    yours: bool


Message: TypeAlias = Letter | Receipt | Beat | Ping | Pong
