"""A user's broker: how it is found, left for another one, and replaced when it is lost.

The user alone says who its broker is: each attempt to get one has a higher term. While it tries another
broker it stays with the one it has, and it goes back there when the attempt fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf

from topicloom.content.brokers import messages as msg
from topicloom.content.brokers.letters import Mailbox
from topicloom.content.brokers.messages import Event, Handlers, Name, Rates, Wants
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.wire.core import Effect, LinkDown, LinkUp, Send

MovePolicy = Callable[[Name], bool]  # may we move to this broker?


class UserStage(Enum):
    """How a user stands."""

    IDLE = "idle"  # not started, or it has left
    REGISTERING = "registering"
    ATTACHED = "attached"
    CONNECTING = "connecting"  # attached, and on the way to a foreign broker


@dataclass(slots=True)
class UserStatement:
    """What a user tells about itself; `version` rises with each change."""

    wants: Wants
    rates: Rates | None
    version: int

    def as_told(self) -> tuple[int, Wants, Rates | None]:
        return self.version, self.wants, self.rates


class Attachment:
    """The part of a user that has a broker, or looks for one."""

    def __init__(
        self,
        statement: UserStatement,
        brokers: Sequence[Name],
        policy: MovePolicy,
        settings: BrokerSettings,
        mailbox: Mailbox,
        effects: list[Effect],
    ) -> None:
        self.broker: Name | None = None
        self.stage = UserStage.IDLE
        self.policy = policy
        self.term = statement.version  # both begin with the life of the user
        self._statement, self._brokers, self._settings = statement, list(brokers), settings
        self._mailbox, self._effects = mailbox, effects
        self._told = statement.version
        self._target: Name = ""
        self._tried: set[Name] = set()
        self._force = False
        self._accepted: tuple[int, Name] = 0, ""
        self._left: dict[Name, float] = {}  # brokers that may hold events for us, and until when
        self._unsent: list[Event] = []
        self._deadline = self._ping = inf
        self._waiting = False  # for a Pong

    def handlers(self) -> Handlers:
        return {
            msg.Welcome: self.on_welcome,
            msg.Refused: self.on_refused,
            msg.RequestToMove: self.on_request_to_move,
            msg.Ready: self.on_ready,
        }

    def register(self, broker: Name, now: float) -> None:
        """Ask a broker to be ours."""
        before = self._begin_attempt(broker, UserStage.REGISTERING, now)
        register = msg.Register(self.term, *self._statement.as_told(), before, self._force)
        self._mailbox.send(broker, register, now)

    def publish(self, event: Event, now: float) -> None:
        """Send an event to our broker, as soon as there is one."""
        if self.broker is None:
            self._unsent.append(event)
        else:
            self._mailbox.send(self.broker, msg.Publish(event), now)

    def tell_wants(self, now: float) -> None:
        if self.broker is not None:
            self._mailbox.send(self.broker, msg.Subscribe(*self._statement.as_told()), now)

    def leave(self, now: float) -> None:
        """Tell all brokers that may count us as theirs, including the one we are trying to get."""
        if self.stage is UserStage.IDLE:
            return
        self._mailbox.withdraw(self._target, _is_attempt)
        here = () if self.broker is None else (self.broker,)
        for broker in dict.fromkeys((*here, self._target, *self._before(now))):
            self._mailbox.send(broker, msg.Leave(self.term), now)
        self._effects.extend(LinkDown(broker, "we leave") for broker in here)
        self.stage, self.broker = UserStage.IDLE, None
        self._ping, self._deadline = inf, now + self._settings.patience

    def next_timer(self) -> float:
        return min(self._deadline, self._ping)

    def handle_timer(self, now: float) -> None:
        if self._deadline <= now:
            self._deadline = inf
            if self.stage is UserStage.IDLE:
                self._mailbox.close()  # who has not confirmed by now is dead
            else:
                self._attempt_failed(now)
        if self._ping <= now:
            self._check_broker(now)

    def heard(self, peer: Name, now: float) -> None:
        """Note a message: any message of our broker says that it lives."""
        if peer == self.broker:
            self._waiting, self._ping = False, now + self._settings.ping

    def _begin_attempt(self, broker: Name, stage: UserStage, now: float) -> tuple[Name, ...]:
        """Begin an attempt; return the brokers, other than its target, that may hold events for us."""
        self.term += 1
        self.stage, self._target, self._told = stage, broker, self._statement.version
        self._deadline = now + self._settings.patience
        return self._before(now)

    def _attempt_failed(self, now: float) -> None:
        """Go back to the broker we have after a refusal or no answer, or on to the next one."""
        self._mailbox.withdraw(self._target, _is_attempt)
        self._leave_behind(self._target, now)  # its answer may still be on the way
        if self.stage is UserStage.CONNECTING and self.broker is not None:
            self.register(self.broker, now)
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
        self.register((fresh or known)[0], now)

    def _take_back(self, broker: Name) -> None:
        """Keep publications that `broker` has not confirmed for the next one; receivers notice duplicates."""
        unconfirmed = self._mailbox.give_up(broker)
        self._unsent += [body.event for body in unconfirmed if isinstance(body, msg.Publish)]

    def _leave_behind(self, broker: Name, now: float) -> None:
        self._left.pop(broker, None)
        self._left[broker] = now + self._settings.ttl + self._settings.patience

    def _before(self, now: float) -> tuple[Name, ...]:
        self._left = {name: until for name, until in self._left.items() if until > now}
        here = () if self.broker is None else (self.broker,)
        return tuple(name for name in dict.fromkeys([*here, *self._left]) if name != self._target)

    def on_welcome(self, peer: Name, body: msg.Welcome, now: float) -> None:
        if body.term != self.term or peer != self._target or self.stage is UserStage.ATTACHED:
            return  # too late: a higher term of ours tells that broker so
        if self.broker is not None and self.broker != peer:
            self._take_back(self.broker)  # should the old one die now, nobody would know whether it had them
            self._leave_behind(self.broker, now)
            self._effects.append(LinkDown(self.broker, "another broker took over"))
        self.broker, self.stage, self._deadline = peer, UserStage.ATTACHED, inf
        self._ping, self._waiting = now + self._settings.ping, False
        self._force = False
        self._tried.clear()
        self._effects.append(LinkUp(peer))
        if self._told < self._statement.version:
            self.tell_wants(now)
        for event in self._unsent:
            self._mailbox.send(peer, msg.Publish(event), now)
        self._unsent.clear()

    def on_refused(self, peer: Name, body: msg.Refused, now: float) -> None:
        """Go on to the next broker at once. If even brokers that must take us refuse (our wants are invalid),
        ask again only after `patience`."""
        mine = body.term == self.term and peer == self._target and self.stage is not UserStage.ATTACHED
        if mine and not self._force:
            self._attempt_failed(now)

    def on_pong(self, peer: Name, message: msg.Pong, now: float) -> None:
        """Register again if our broker has forgotten us, for instance because it was restarted."""
        ours = peer == self.broker and message.term == self.term and self.stage is UserStage.ATTACHED
        if ours and not message.yours:
            self.register(peer, now)

    def _check_broker(self, now: float) -> None:
        """Ask our broker whether it lives; give it up if the last question was not answered."""
        assert self.broker is not None
        if self._waiting and self.stage is UserStage.ATTACHED:
            self._target = self.broker
            self._give_up_broker(now)
            return
        self._waiting = True  # while an attempt is under way, that decides
        self._effects.append(Send((self.broker,), msg.Ping(self.term)))
        self._ping = now + self._settings.patience

    def on_request_to_move(self, peer: Name, body: msg.RequestToMove, now: float) -> None:
        """Accept or decline, as our policy says [Zhao2011, V]."""
        asked = peer == self.broker and self.stage is UserStage.ATTACHED and body.foreign in self._brokers
        accepted = asked and self.policy(body.foreign)
        if accepted:
            self._accepted = body.move, body.foreign
        self._mailbox.send(peer, msg.Accept(body.move) if accepted else msg.Decline(body.move), now)

    def on_ready(self, peer: Name, body: msg.Ready, now: float) -> None:
        """Connect to the foreign broker, if we have accepted that."""
        agreed = self._accepted == (body.move, body.foreign)
        if peer != self.broker or self.stage is not UserStage.ATTACHED or not agreed:
            return
        before = self._begin_attempt(body.foreign, UserStage.CONNECTING, now)
        connect = msg.Connect(self.term, body.move, *self._statement.as_told(), before)
        self._mailbox.send(body.foreign, connect, now)


def _is_attempt(body: object) -> bool:
    return isinstance(body, msg.Register | msg.Connect)
