"""A client: one user's side of the protocol. Driven like `Broker`.

The client alone says who its broker is: each attempt to get one has a higher term. While it tries another
broker it stays with the one it has, and it goes back there when the attempt fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import inf, isfinite
from typing import Any

from topicloom.content.brokers.effects import Attached, Deliver, Effect, Fault, Send
from topicloom.content.brokers.interest import check_wants, matches
from topicloom.content.brokers.messages import (
    Accept,
    Connect,
    Decline,
    Delivery,
    Event,
    EventId,
    Leave,
    Letter,
    Message,
    Name,
    Ping,
    Point,
    Pong,
    Publish,
    Rates,
    Ready,
    Receipt,
    Refused,
    Register,
    RequestToMove,
    Subscribe,
    Wants,
    Welcome,
)
from topicloom.content.brokers.post import Post
from topicloom.content.brokers.seen import Memory
from topicloom.content.brokers.settings import Settings
from topicloom.errors import UsageError

Policy = Callable[[Name], bool]
"""May we move to this broker?"""


class Stage(Enum):
    """How a client stands."""

    IDLE = "idle"
    REGISTERING = "registering"
    ATTACHED = "attached"
    CONNECTING = "connecting"
    """Attached, and on the way to a foreign broker."""


class Client:
    """One user; see the file's head for how it is driven."""

    def __init__(
        self,
        name: Name,
        wants: Wants,
        *,
        brokers: Sequence[Name],
        n_attributes: int = 1,
        rates: Rates | None = None,
        policy: Policy = lambda foreign: True,
        settings: Settings | None = None,
        life: int = 1,
        number: int = 0,
    ) -> None:
        """`brokers` are those it may turn to, the first one first; `rates` what it says it will publish
        (None: its broker shall count). After a restart `life` must be higher, `number` its last event's.
        """
        self.name, self.wants, self.rates, self.policy = name, wants, rates, policy
        self.settings, self._brokers, self._width = settings or Settings(), list(brokers), n_attributes
        self._check(wants)
        self.effects: list[Effect] = []
        self._post = Post(life, self.settings.resend, self.effects)
        self._memory = Memory(self.settings.remember)
        self.broker: Name | None = None
        self.stage = Stage.IDLE
        self.term = life * 1_000_000
        self.number = number
        self._version = self._told = self.term
        self._target: Name = ""
        self._tried: set[Name] = set()
        self._force = False
        self._left: dict[Name, float] = {}  # brokers that may hold events for us, and until when
        self._unsent: list[Event] = []
        self._deadline = self._ping = inf
        self._waiting = False  # for a Pong
        self.due = inf

    # -- what a driver calls ----------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """Look for a broker."""
        self._register(self._brokers[0], now)
        self._rearm()

    def publish(self, point: Point, payload: bytes, now: float) -> EventId:
        """Publish an event: a value for every attribute."""
        if self.stage is Stage.IDLE:
            raise UsageError(f"client {self.name}: it has left or not started; it cannot publish")
        if len(point) != self._width or not all(isfinite(value) for value in point):
            raise UsageError(f"client {self.name}: an event needs {self._width} finite values, not {point}")
        self.number += 1
        event = Event(EventId(self.name, self.number), tuple(point), payload)
        if self.broker is None:
            self._unsent.append(event)
        else:
            self._post.send(self.broker, Publish(event), now)
        self._rearm()
        return event.id

    def subscribe(self, wants: Wants, now: float, *, rates: Rates | None = None) -> None:
        """Want this from now on, in place of what was wanted before."""
        self._check(wants)
        self.wants, self.rates = wants, rates
        self._version += 1
        if self.broker is not None:
            self._tell_wants(now)
        self._rearm()

    def leave(self, now: float) -> None:
        """An orderly end."""
        if self.broker is not None:
            for broker in (self.broker, *self._before(now)):
                self._post.send(broker, Leave(self.term), now)
        self.stage, self.broker = Stage.IDLE, None
        self._deadline = self._ping = inf
        self._rearm()

    def receive(self, peer: Name, message: Message, now: float) -> None:
        """A message came from `peer`. Nothing that a peer says raises."""
        if peer == self.broker:  # it lives
            self._waiting, self._ping = False, now + self.settings.ping
        if type(message) is Letter:
            body = self._post.receive(peer, message)
            if body is not None:
                handler = _HANDLERS.get(type(body))
                if handler is None:
                    self._fault(peer, body)
                else:
                    handler(self, peer, body, now)
        elif type(message) is Receipt:
            self._post.receipt(peer, message)
        elif type(message) is Pong:
            self._on_pong(peer, message, now)
        else:
            self._fault(peer, message)
        self._rearm()

    def next_timer(self) -> float:
        """When `handle_timer` wants to be called; infinity for never."""
        return self.due

    def handle_timer(self, now: float) -> None:
        """The time has come; calling it too early does no harm."""
        if self._deadline <= now:
            self._deadline = inf
            self._failed(now)
        if self._ping <= now:
            self._check_broker(now)
        self._post.handle_timer(now)
        self._rearm()

    def take_effects(self) -> list[Effect]:
        """What is to be done since the last call, in order."""
        taken = self.effects[:]
        self.effects.clear()
        return taken

    # -- getting a broker -------------------------------------------------------------------------------

    def _register(self, broker: Name, now: float) -> None:
        self._try(broker, Stage.REGISTERING, now)
        before = self._before(now)
        body = Register(self.term, self._version, self.wants, self.rates, before, self._force)
        self._post.send(broker, body, now)

    def _try(self, broker: Name, stage: Stage, now: float) -> None:
        self.term += 1
        self.stage, self._target, self._told = stage, broker, self._version
        self._deadline = now + self.settings.patience

    def _failed(self, now: float) -> None:
        """No answer, or no: back to the broker we have, or on to the next one."""
        self._post.withdraw(self._target, lambda body: isinstance(body, Register | Connect))
        self._leave_behind(self._target, now)  # its answer may still be on the way
        if self.stage is Stage.CONNECTING and self.broker is not None:
            self._register(self.broker, now)
        else:
            self._lose(now)

    def _lose(self, now: float) -> None:
        """The broker we turned to is dead to us. First to those that may hold events for us, the last one
        first; when all have been tried, once more round, and then they must take us without room."""
        for broker in dict.fromkeys((self._target, self.broker)):
            if broker is not None:
                self._take_back(broker)
                self._tried.add(broker)
        if self.broker is not None:
            self._leave_behind(self.broker, now)
        self.broker, self._ping, self._waiting = None, inf, False
        known = list(dict.fromkeys([*reversed(self._left), *self._brokers]))
        fresh = [name for name in known if name not in self._tried]
        if not fresh:
            self._tried.clear()
            self._force = True
        self._register((fresh or known)[0], now)

    def _take_back(self, broker: Name) -> None:
        """Publications that `broker` has not confirmed go to the next one; who gets one twice will notice."""
        self._unsent += [body.event for body in self._post.give_up(broker) if isinstance(body, Publish)]

    def _leave_behind(self, broker: Name, now: float) -> None:
        self._left.pop(broker, None)
        self._left[broker] = now + self.settings.ttl + self.settings.patience

    def _before(self, now: float) -> tuple[Name, ...]:
        """The brokers, other than the one we turn to, that may hold events for us."""
        self._left = {name: until for name, until in self._left.items() if until > now}
        here = () if self.broker is None else (self.broker,)
        return tuple(name for name in dict.fromkeys([*here, *self._left]) if name != self._target)

    def _on_welcome(self, peer: Name, body: Welcome, now: float) -> None:
        if body.term != self.term or peer != self._target or self.stage is Stage.ATTACHED:
            return  # too late: a higher term of ours tells that broker so
        if self.broker is not None and self.broker != peer:
            self._take_back(self.broker)  # should the old one die now, nobody would know whether it had them
            self._leave_behind(self.broker, now)
        self.broker, self.stage, self._deadline = peer, Stage.ATTACHED, inf
        self._ping, self._waiting = now + self.settings.ping, False
        self._force = False
        self._tried.clear()
        self.effects.append(Attached(peer, self.term))
        if self._told < self._version:
            self._tell_wants(now)
        for event in self._unsent:
            self._post.send(peer, Publish(event), now)
        self._unsent.clear()

    def _on_refused(self, peer: Name, body: Refused, now: float) -> None:
        if body.term == self.term and peer == self._target and self.stage is not Stage.ATTACHED:
            self._failed(now)

    def _on_pong(self, peer: Name, message: Pong, now: float) -> None:
        """Our broker may have forgotten us (it was started anew, say)."""
        ours = peer == self.broker and message.term == self.term and self.stage is Stage.ATTACHED
        if ours and not message.yours:
            self._register(peer, now)

    def _check_broker(self, now: float) -> None:
        """Does our broker live? A dead one leaves a question without an answer."""
        assert self.broker is not None
        if self._waiting and self.stage is Stage.ATTACHED:
            self._target = self.broker
            self._lose(now)
            return
        self._waiting = True  # while an attempt is under way, that decides
        self.effects.append(Send(self.broker, Ping(self.term)))
        self._ping = now + self.settings.patience

    # -- moving -----------------------------------------------------------------------------------------

    def _on_request_to_move(self, peer: Name, body: RequestToMove, now: float) -> None:
        asked = peer == self.broker and self.stage is Stage.ATTACHED and body.foreign in self._brokers
        answer = Accept(body.move) if asked and self.policy(body.foreign) else Decline(body.move)
        self._post.send(peer, answer, now)

    def _on_ready(self, peer: Name, body: Ready, now: float) -> None:
        if peer != self.broker or self.stage is not Stage.ATTACHED or body.foreign not in self._brokers:
            return
        self._try(body.foreign, Stage.CONNECTING, now)
        before = self._before(now)
        connect = Connect(self.term, body.move, self._version, self.wants, self.rates, before)
        self._post.send(body.foreign, connect, now)

    # -- events -----------------------------------------------------------------------------------------

    def _on_delivery(self, peer: Name, body: Delivery, now: float) -> None:
        event = body.event
        if len(event.point) != self._width:
            self._fault(peer, body)
        elif matches(self.wants, event.point) and self._memory.add(event.id, now):
            self.effects.append(Deliver(event))

    def _tell_wants(self, now: float) -> None:
        assert self.broker is not None
        self._post.send(self.broker, Subscribe(self._version, self.wants, self.rates), now)

    # -- inside -----------------------------------------------------------------------------------------

    def _check(self, wants: Wants) -> None:
        wrong = check_wants(wants, self._width)
        if wrong:
            raise UsageError(f"client {self.name}: {wrong}")

    def _fault(self, peer: Name, said: object) -> None:
        self.effects.append(Fault(peer, f"{type(said).__name__} is nothing to say to a client"))

    def _rearm(self) -> None:
        self.due = min(self._deadline, self._ping, self._post.next_timer())


_HANDLERS: dict[type, Callable[[Client, Name, Any, float], None]] = {
    Welcome: Client._on_welcome,
    Refused: Client._on_refused,
    RequestToMove: Client._on_request_to_move,
    Ready: Client._on_ready,
    Delivery: Client._on_delivery,
}
