"""One user's side of the protocol: it publishes, receives, finds and keeps a broker. Driven like `Broker`.

The user alone says who its broker is: each attempt to get one has a higher term. While it tries another
broker it stays with the one it has, and it goes back there when the attempt fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import inf, isfinite

from topicloom.content.brokers import messages as msg
from topicloom.content.brokers.letters import DeliveredEvents, Mailbox
from topicloom.content.brokers.messages import Event, EventId, Handlers, Message, Name, Point, Rates, Wants
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.wants_and_rates import find_fault, matches
from topicloom.errors import UsageError
from topicloom.wire.core import BaseCore, Close, Deliver, LinkDown, LinkUp, Send

MovePolicy = Callable[[Name], bool]  # may we move to this broker?


class UserStage(Enum):
    """How a user stands."""

    IDLE = "idle"  # not started, or it has left
    REGISTERING = "registering"
    ATTACHED = "attached"
    CONNECTING = "connecting"  # attached, and on the way to a foreign broker


class User(BaseCore):
    """One user; see the file's head for how it is driven. `broker` is None while it looks for one."""

    def __init__(
        self,
        name: Name,
        wants: Wants,
        *,
        brokers: Sequence[Name],
        n_attributes: int = 1,
        rates: Rates | None = None,
        policy: MovePolicy = lambda foreign: True,
        settings: BrokerSettings | None = None,
        life: int = 1,
        number: int = 0,
    ) -> None:
        """`brokers` are those it may turn to, the first one first; `rates` what it says it will publish
        (None: its broker shall count). After a restart `life` must be higher, `number` its last event's.
        """
        super().__init__([])
        self.name, self.settings, self._width = name, settings or BrokerSettings(), n_attributes
        if not brokers:
            raise UsageError(f"user {name}: it needs at least one broker to turn to")
        self._check(wants, rates)
        self.wants, self._rates, self.number = wants, rates, number
        self.broker: Name | None = None
        self.stage = UserStage.IDLE
        # Attempts, and versions of what it wants and publishes: both rise, over restarts too.
        self.term = self._version = self._told = life * 1_000_000
        self._brokers, self.policy = list(brokers), policy
        self._mailbox = Mailbox(life, self.settings.resend, self._effects)
        self._memory = DeliveredEvents(self.settings.remember)
        self._target: Name = ""
        self._tried: set[Name] = set()
        self._force = False
        self._accepted: tuple[int, Name] = 0, ""
        self._left: dict[Name, float] = {}  # brokers that may hold events for us, and until when
        self._unsent: list[Event] = []
        self._deadline = self._ping = inf
        self._waiting = False  # for a Pong
        self._handlers: Handlers = {
            msg.Welcome: self._on_welcome,
            msg.Refused: self._on_refused,
            msg.RequestToMove: self._on_request_to_move,
            msg.Ready: self._on_ready,
            msg.Delivery: self._on_delivery,
        }

    # -- what a driver and an application call ----------------------------------------------------------

    def start(self, now: float) -> None:
        """Look for a broker."""
        self._register(self._brokers[0], now)
        self._rearm()

    def publish(self, point: Point, payload: bytes, now: float) -> EventId:
        """Publish an event: a value for every attribute. It goes to our broker as soon as there is one."""
        if self.stage is UserStage.IDLE:
            raise UsageError(f"user {self.name}: it has left or not started; it cannot publish")
        if len(point) != self._width or not all(isfinite(value) for value in point):
            raise UsageError(f"user {self.name}: an event needs {self._width} finite values, not {point}")
        self.number += 1
        event = Event(EventId(self.name, self.number), tuple(point), payload)
        if self.broker is None:
            self._unsent.append(event)
        else:
            self._mailbox.send(self.broker, msg.Publish(event), now)
        self._rearm()
        return event.id

    def subscribe(self, wants: Wants, now: float, *, rates: Rates | None = None) -> None:
        """Want this from now on, instead of what was wanted before."""
        self._check(wants, rates)
        self.wants, self._rates = wants, rates
        self._version += 1
        self._tell_wants(now)
        self._rearm()

    def leave(self, now: float) -> None:
        """Leave: nothing is delivered any more. Publications that no broker has confirmed are sent a little
        longer; without a broker they are lost. All brokers that may count us as theirs are told, including
        the one we are trying to get."""
        if self.stage is not UserStage.IDLE:
            self._mailbox.withdraw(self._target, msg.Attempt)
            here = () if self.broker is None else (self.broker,)
            for broker in dict.fromkeys((*here, self._target, *self._before(now))):
                self._mailbox.send(broker, msg.Leave(self.term), now)
            self._effects.extend(LinkDown(broker, "we leave") for broker in here)
            self.stage, self.broker = UserStage.IDLE, None
            self._ping, self._deadline = inf, now + self.settings.patience
        self._rearm()

    def receive(self, peer: Name, message: Message, now: float) -> None:
        """Handle a message from `peer`. Nothing that a peer says raises."""
        if peer == self.broker:  # any message of our broker says that it lives
            self._waiting, self._ping = False, now + self.settings.ping
        if type(message) is msg.Letter:
            body = self._mailbox.receive(peer, message)
            if body is not None and self.stage is not UserStage.IDLE:
                self._handlers.get(type(body), self._fault)(peer, body, now)
        elif type(message) is msg.Receipt:
            self._mailbox.receipt(peer, message)
        elif type(message) is msg.Pong:
            self._on_pong(peer, message, now)
        else:
            self._fault(peer, message, now)
        self._rearm()

    def handle_timer(self, now: float) -> None:
        """Do what is due; calling it too early does no harm."""
        if self._deadline <= now:
            self._deadline = inf
            if self.stage is UserStage.IDLE:
                self._mailbox.close()  # who has not confirmed by now is dead
            else:
                self._attempt_failed(now)
        if self._ping <= now:
            self._check_broker(now)
        self._mailbox.handle_timer(now)
        self._rearm()

    def _rearm(self) -> None:
        self._due = min(self._deadline, self._ping, self._mailbox.next_timer())

    def _check(self, wants: Wants, rates: Rates | None) -> None:
        if wrong := find_fault(wants, rates, self._width, inf):
            raise UsageError(f"user {self.name}: {wrong}")

    def _fault(self, peer: Name, said: object, now: float) -> None:
        self._effects.append(Close(peer, f"{type(said).__name__} is nothing to say to a user"))

    def _on_delivery(self, peer: Name, body: msg.Delivery, now: float) -> None:
        event = body.event
        if len(event.point) != self._width:
            self._fault(peer, body, now)
        elif matches(self.wants, event.point) and self._memory.add(event.id, now):
            self._effects.append(Deliver(event))

    # -- finding a broker -------------------------------------------------------------------------------

    def _register(self, broker: Name, now: float) -> None:
        """Ask a broker to be ours."""
        self._attempt(UserStage.REGISTERING, msg.Register, broker, self._force, now)

    def _tell_wants(self, now: float) -> None:
        if self.broker is not None:
            told = msg.Subscribe(self._version, self.wants, self._rates)
            self._mailbox.send(self.broker, told, now)

    def _attempt(
        self, stage: UserStage, kind: type[msg.Register | msg.Connect], broker: Name, how: int, now: float
    ) -> None:
        """Begin to turn to a broker; `how` is what one kind of attempt says beyond the others."""
        self.term += 1
        self.stage, self._target, self._told = stage, broker, self._version
        self._deadline = now + self.settings.patience
        known = self._version, self.wants, self._rates, self._before(now)
        self._mailbox.send(broker, kind(self.term, *known, how), now)  # type: ignore[arg-type]

    def _attempt_failed(self, now: float) -> None:
        """Go back to the broker we have after a refusal or no answer, or on to the next one."""
        self._mailbox.withdraw(self._target, msg.Attempt)
        self._leave_behind(self._target, now)  # its answer may still be on the way
        if self.stage is UserStage.CONNECTING and self.broker is not None:
            self._register(self.broker, now)
        else:
            self._give_up_broker(now)

    def _give_up_broker(self, now: float) -> None:
        """Give up the broker we turned to and try another: first those that may hold events for us, the last
        one first. When all have been tried, begin again, and then they must take us without room."""
        for broker in dict.fromkeys((self._target, self.broker)):
            if broker is not None:
                self._take_back(broker)
                self._tried.add(broker)
        if self.broker is not None:
            self._leave_behind(self.broker, now)
            self._effects.append(LinkDown(self.broker, "it does not answer"))
        self.broker, self._ping, self._waiting = None, inf, False
        known = list(dict.fromkeys([*reversed(self._left), *self._brokers]))
        fresh = [name for name in known if name not in self._tried]
        if not fresh:
            self._tried.clear()
            self._force = True
        self._register((fresh or known)[0], now)

    def _take_back(self, broker: Name) -> None:
        """Keep publications that `broker` has not confirmed for the next one; receivers notice duplicates."""
        self._unsent += [body.event for body in self._mailbox.withdraw(broker, msg.Publish)]
        self._mailbox.withdraw(broker)

    def _leave_behind(self, broker: Name, now: float) -> None:
        self._left.pop(broker, None)
        self._left[broker] = now + self.settings.ttl + self.settings.patience

    def _before(self, now: float) -> tuple[Name, ...]:
        self._left = {name: until for name, until in self._left.items() if until > now}
        here = () if self.broker is None else (self.broker,)
        return tuple(name for name in dict.fromkeys([*here, *self._left]) if name != self._target)

    def _on_welcome(self, peer: Name, body: msg.Welcome, now: float) -> None:
        if not self._is_answer(peer, body.term):
            return  # too late: a higher term of ours tells that broker so
        if self.broker is not None and self.broker != peer:
            self._take_back(self.broker)  # should the old one die now, nobody would know whether it had them
            self._leave_behind(self.broker, now)
            self._effects.append(LinkDown(self.broker, "another broker took over"))
        self.broker, self.stage, self._deadline = peer, UserStage.ATTACHED, inf
        self._ping, self._waiting = now + self.settings.ping, False
        self._force = False
        self._tried.clear()
        self._effects.append(LinkUp(peer))
        if self._told < self._version:
            self._tell_wants(now)
        for event in self._unsent:
            self._mailbox.send(peer, msg.Publish(event), now)
        self._unsent.clear()

    def _on_refused(self, peer: Name, body: msg.Refused, now: float) -> None:
        """Go on to the next broker at once. If even brokers that must take us refuse (our wants are invalid),
        ask again only after `patience`."""
        if self._is_answer(peer, body.term) and not self._force:
            self._attempt_failed(now)

    def _is_answer(self, peer: Name, term: int) -> bool:
        return term == self.term and peer == self._target and self.stage is not UserStage.ATTACHED

    # -- keeping it, or moving to another ---------------------------------------------------------------

    def _on_pong(self, peer: Name, message: msg.Pong, now: float) -> None:
        """Register again if our broker has forgotten us, for instance because it was restarted."""
        if self._is_ours(peer) and message.term == self.term and not message.yours:
            self._register(peer, now)

    def _is_ours(self, peer: Name) -> bool:
        return peer == self.broker and self.stage is UserStage.ATTACHED

    def _check_broker(self, now: float) -> None:
        """Ask our broker whether it lives; give it up if the last question was not answered."""
        assert self.broker is not None
        if self._waiting and self.stage is UserStage.ATTACHED:
            self._target = self.broker
            self._give_up_broker(now)
            return
        self._waiting = True  # while an attempt is under way, that decides
        self._effects.append(Send((self.broker,), msg.Ping(self.term)))
        self._ping = now + self.settings.patience

    def _on_request_to_move(self, peer: Name, body: msg.RequestToMove, now: float) -> None:
        """Accept or decline, as our policy says [Zhao2011, V]."""
        accepted = self._is_ours(peer) and body.foreign in self._brokers and self.policy(body.foreign)
        if accepted:
            self._accepted = body.move, body.foreign
        self._mailbox.send(peer, msg.Accept(body.move) if accepted else msg.Decline(body.move), now)

    def _on_ready(self, peer: Name, body: msg.Ready, now: float) -> None:
        """Connect to the foreign broker, if we have accepted that."""
        if self._is_ours(peer) and self._accepted == (body.move, body.foreign):
            self._attempt(UserStage.CONNECTING, msg.Connect, body.foreign, body.move, now)
