"""A fake wire with a manual clock that joins `User` and `Broker` cores, and a judge of what comes of it.

The wire delays, doubles and reorders messages; what is under way on a connection that is closed is lost;
brokers die. Every step of every broker about every user is held against `RULES`; every publication,
subscription and delivery is taken down and judged by `faulty`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import inf
from random import Random
from typing import Any, NamedTuple

import numpy as np

from content.brokers.judge import Judge, Watch, state_of
from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.messages import CODEC, EventId, Letter, Message, Name
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.user import User
from topicloom.content.brokers.user_records import UserRecords
from topicloom.content.brokers.user_rules import IN_CHARGE, UserState
from topicloom.content.brokers.wants_and_rates import Channels
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.wire.core import Close, Core, Deliver, Effect, LinkUp, Send

CONSTANTS: dict[str, Any] = {
    "max_delay": 0.1, "longest_path": 4, "heartbeat": 0.5, "detector": 1.0, "ping": 1.0, "round": 0.0,
}  # fmt: skip


class Under(NamedTuple):
    """A message under way, and since when."""

    message: Message
    since: float


class End:
    """A core at its end of the wire: what was under way on a connection that is closed never arrives."""

    def __init__(self, wire: Wire, core: Core, name: Name) -> None:
        self._wire, self._core, self._name = wire, core, name
        self.start, self.next_timer, self.take_effects = core.start, core.next_timer, core.take_effects

    def receive(self, peer: Name, message: Under, now: float) -> None:
        if not self._wire.closed(self._name, peer, message.since):
            self._core.receive(peer, message.message, now)

    def handle_timer(self, now: float) -> None:
        self._core.handle_timer(now)
        assert self._core.next_timer() > now, "a driver would spin"


class Wire:
    """Users and brokers in virtual time. Public attributes may be set at any time and hold from then on."""

    def __init__(
        self,
        brokers: Sequence[Name] = "ABCD",
        *,
        seed: int = 1,
        n_channels: int = 10,
        core: Any = None,
        capacity: float = 1e9,
        prices: Callable[[Name], Sequence[float]] | None = None,
        doubling: float = 0.0,
        as_bytes: bool = False,
        judge: Judge | None = None,
        **constants: Any,
    ) -> None:
        self.settings = BrokerSettings(**(CONSTANTS | constants))
        self.random, self.doubling, self.as_bytes = Random(seed), doubling, as_bytes
        self.latency = (0.0, self.settings.max_delay)
        self.judge = judge or Judge()
        self.loop: Loop[End] = Loop(Links(self._delay), self._carry_out)
        self.users: dict[Name, User] = {}
        self.deaths: dict[Name, float] = {}
        self.gone: list[Name] = []
        self.published: dict[EventId, tuple[float, tuple[float, ...]]] = {}
        self.wanted: defaultdict[Name, list[tuple[float, Any]]] = defaultdict(list)
        self.delivered: defaultdict[tuple[Name, EventId], list[float]] = defaultdict(list)
        self.false: list[tuple[Name, EventId]] = []
        self.attached: list[tuple[float, Name, Name]] = []
        self.faults: list[Close] = []
        self.sent: Counter[str] = Counter()
        self._switched: dict[Name, float] = {}
        if core is None:
            core = np.ones((len(brokers), len(brokers))) - np.eye(len(brokers))
        self.brokers: dict[Name, Broker] = {}
        self._lives: Counter[Name] = Counter()
        self._parts: dict[str, Any] = {
            "brokers": list(brokers),
            "core": CoreModel.of(core, "free"),
            "capacity": capacity,
            "channels": Channels.numbered(n_channels),
            "prices": prices or (lambda user: [1.0] * len(brokers)),
        }
        for name in brokers:
            self.begin(name, Random(f"{seed} {name}"))

    @property
    def now(self) -> float:
        return self.loop.now

    # -- what happens -----------------------------------------------------------------------------------

    def add(self, name: Name, wants: Any, home: Name, **options: Any) -> User:
        others = [broker for broker in self.brokers if broker != home]
        self.random.shuffle(others)
        user = User(name, wants, brokers=[home, *others], settings=self.settings, **options)
        self.users[name] = user
        self.wanted[name].append((self.now, wants))
        self.loop.enter(name, End(self, user, name))
        return user

    def publish(self, name: Name, *point: float) -> EventId:
        id = self.users[name].publish(point, b"", self.now)
        self.published[id] = self.now, point
        self.loop.settle(name)
        return id

    def subscribe(self, name: Name, wants: Any, **options: Any) -> None:
        self.users[name].subscribe(wants, self.now, **options)
        self.wanted[name].append((self.now, wants))
        self.loop.settle(name)

    def move(self, user: Name, foreign: Name) -> bool:
        """Its broker asks the user to move, if it can."""
        broker = self.brokers.get(self.users[user].broker)  # type: ignore[arg-type]
        if broker is None or foreign == broker.name:
            return False
        asked = broker.request_to_move(user, foreign, self.now)
        self.loop.settle(broker.name)
        return asked

    def leave(self, name: Name) -> None:
        """The user leaves the system in order; its core stays, to answer what still comes."""
        self.users[name].leave(self.now)
        self.loop.settle(name)
        self.gone.append(name)

    def vanish(self, name: Name) -> None:
        """The user is gone without a word."""
        del self.users[name]
        self.loop.remove(name)

    def begin(self, name: Name, rng: Random | None = None) -> None:
        """A broker is started, perhaps anew: then it knows nothing of its life before."""
        self._lives[name] += 1
        broker = Broker(
            name, rng=rng or Random(0), settings=self.settings, life=self._lives[name], **self._parts
        )
        self.brokers[name] = broker
        self.loop.enter(name, End(self, Watch(broker, self.judge), name))

    def kill(self, broker: Name) -> None:
        """Gone without a word; what it sent is on its way."""
        del self.brokers[broker]
        self.loop.remove(broker)
        self.deaths[broker] = self.now

    # -- time and messages ------------------------------------------------------------------------------

    def at(self, time: float, action: Callable[[], object]) -> None:
        self.loop.call_at(time, lambda now: action())

    def run(self, seconds: float) -> None:
        """All that happens in the next `seconds`."""
        self.loop.run(self.now + seconds)

    def hand(self, to: Name, sender: Name, message: Message) -> None:
        """A message arrives this moment, whether or not anybody sent it."""
        self.loop.hand(to, sender, Under(message, inf))

    def _carry_out(self, name: Name, effects: Sequence[Effect], cause: Under | None) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                for to in effect.to:
                    self._send(name, to, effect.message)
            elif isinstance(effect, Deliver):
                self.delivered[name, effect.event.id].append(self.now)
                if not _wants(self.wanted[name][-1][1], effect.event.point):
                    self.false.append((name, effect.event.id))
            elif isinstance(effect, LinkUp):
                self.attached.append((self.now, name, effect.peer))
                self._switched[name] = self.now
            elif isinstance(effect, Close):
                self.faults.append(effect)

    def _send(self, sender: Name, to: Name, message: Message) -> None:
        inside = message.body if isinstance(message, Letter) else message
        self.sent[str(inside.__struct_config__.tag)] += 1
        for _ in range(1 + (self.random.random() < self.doubling)):
            carried = CODEC.decode(CODEC.encode(message)) if self.as_bytes else message
            self.loop.send(sender, (to,), Under(carried, self.now))

    def _delay(self, sender: Name, to: Name) -> float:
        """Half of all messages take the shortest or the longest time: these overtake the most."""
        delay = self.random.choice((*self.latency, self.random.uniform(*self.latency), None))
        return self.random.uniform(*self.latency) if delay is None else delay

    def closed(self, to: Name, sender: Name, since: float) -> bool:
        """A user that has a new broker closes its connection to the old one: what is on it is lost."""
        user, broker = (to, sender) if to in self.users else (sender, to)
        switched = self._switched.get(user, -1.0)
        return user in self.users and since < switched and self.users[user].broker != broker

    # -- what tests look at -----------------------------------------------------------------------------

    def records_of(self, broker: Name) -> UserRecords:
        return self.brokers[broker].state.users

    def state(self, broker: Name, user: Name) -> UserState:
        return state_of(self.brokers[broker], user)

    def faulty(self, known: float) -> list[str]:
        """What is wrong with the deliveries: those that were due and not made, made twice, or not wanted.

        Due is what a user wanted from `known` seconds before the publication (so that all brokers knew)
        until the longest that an event may take.
        """
        found = [f"{user} got {id} which it does not want" for user, id in self.false]
        twice = {key: times for key, times in self.delivered.items() if len(times) > 1}
        found += [f"{who} got {id} {len(times)} times" for (who, id), times in twice.items()]
        for id, (time, point) in self.published.items():
            for name, history in self.wanted.items():
                if name == id.publisher:
                    continue
                until = time + self.settings.remember
                held = [
                    wants
                    for (since, wants), (end, _) in zip(history, [*history[1:], (inf, None)], strict=True)
                    if end > time - known and since <= until
                ]
                early = history[0][0] <= time - known
                if early and all(_wants(wants, point) for wants in held) and (name, id) not in self.delivered:
                    found.append(f"{name} never got {id} at {point}, published at {time:.3f}")
        return found

    def unquiet(self) -> list[str]:
        """What is left over where nothing should go on any more."""
        found = []
        for name, user in self.users.items():
            if name in self.gone:
                if user.next_timer() < inf:
                    found.append(f"{name} has left and still wants to do something")
                found += [
                    f"{name} has left, {b} knows it"
                    for b in self.brokers
                    if name in self.records_of(b).records
                ]
                continue
            in_charge = [broker for broker in self.brokers if self.state(broker, name) in IN_CHARGE]
            if in_charge != [user.broker]:
                found.append(f"{name} is with {user.broker}, brokers {in_charge} think it is theirs")
        for name, broker in self.brokers.items():
            known = self.records_of(name)
            away = set(known.records) - set(broker.users)
            found += [f"{name} still redirects for {record}" for record in away]
            found += [f"{name} keeps room for {user}" for user in known.expected]
            found += [f"{name} keeps events for {g.name}" for g in known.records.values() if g.kept]
            others = [*self.users, *(other for other in self.brokers if other != name)]
            found += [
                f"{name} has letters under way to {other}"
                for other, line in broker.state.mailbox._lines.items()
                if line.open and other in others
            ]
            if broker.state.strays:
                found.append(f"{name} got {broker.state.strays} events for users it does not know")
        return found


def _wants(wants: Any, point: tuple[float, ...]) -> bool:
    return any(all(low <= x < high for (low, high), x in zip(box, point, strict=True)) for box in wants)
