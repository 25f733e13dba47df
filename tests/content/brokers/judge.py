"""A judge of every step that brokers take about a user: each must be one of the table in `rules.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.envelope import Letter
from topicloom.content.brokers.messages import Name
from topicloom.content.brokers.migration import Migration
from topicloom.content.brokers.rules import RULES, State, permits
from topicloom.wire.core import Effect, Send

UNJUDGED = frozenset({"delivery", "redirect", "forward", "news", "ask-news", "publish"})


class Judge:
    """Refuses steps that no row permits, and remembers which rows were seen."""

    def __init__(self) -> None:
        self.seen: Counter[int] = Counter()

    def judge(self, before: State, on: str, sent: tuple[str, ...], after: State) -> None:
        rows = [number for number, rule in enumerate(RULES) if permits(rule, before, on, sent, after)]
        assert rows, f"no row of the table permits {before.value} on {on}: sent {sent}, then {after.value}"
        self.seen.update(rows)


class Watch:
    """A core around a broker that lets the judge see every step of it about a user."""

    def __init__(self, broker: Broker, judge: Judge) -> None:
        self.name, self._broker, self._judge = broker.name, broker, judge
        self._effects: list[Effect] = []
        self.start, self.receive = broker.start, broker.receive
        self.handle_timer, self.next_timer = broker.handle_timer, broker.next_timer
        _watch(broker, judge, self.watched)

    def take_effects(self) -> Sequence[Effect]:
        taken, self._effects = self._so_far(), []
        return taken

    def _so_far(self) -> list[Effect]:
        """All that was asked for since the driver took it."""
        self._effects += self._broker.take_effects()
        return self._effects

    def watched(self, on: str, client: Name, work: Callable[[], Any]) -> Any:
        before, mark = self._broker.state_of(client), len(self._so_far())
        result = work()
        sent = [
            str(effect.message.body.__struct_config__.tag)
            for effect in self._so_far()[mark:]
            if isinstance(effect, Send)
            and isinstance(effect.message, Letter)
            and client in (*effect.to, getattr(effect.message.body, "client", None))
        ]
        words = tuple(dict.fromkeys(word.upper() for word in sent if word not in UNJUDGED))
        self._judge.judge(before, on, words, self._broker.state_of(client))
        return result


def _watch(broker: Broker, judge: Judge, watched: Callable[[str, Name, Callable[[], Any]], Any]) -> None:
    """Have `watched` called for every step of the broker."""

    def wrap(kind: type, handler: Callable[..., Any]) -> Callable[..., Any]:
        tag = str(kind.__struct_config__.tag)  # type: ignore[attr-defined]

        def handle(peer: Name, body: Any, now: float) -> Any:
            client = getattr(body, "client", peer)
            return watched(tag.upper(), client, lambda: handler(peer, body, now))

        return handler if tag in UNJUDGED else handle

    for handlers in (broker._from_clients, broker._from_brokers):
        handlers.update({kind: wrap(kind, handler) for kind, handler in handlers.items()})

    class Watched(Migration):
        """Tells of what happens without a message."""

        __slots__ = ()

        def request_to_move(self, guest: Any, foreign: Name, now: float) -> bool:
            possible = guest.state is State.ATTACHED and broker.desk.view.alive(foreign)
            call = super().request_to_move
            return watched("decision", guest.name, lambda: call(guest, foreign, now)) if possible else False

        def expire(self, name: Name, now: float) -> None:
            guest, call = broker.desk.book.get(name), super().expire
            if guest is not None and guest.deadline <= now:
                watched("time", name, lambda: call(name, now))
            else:
                call(name, now)

        def died(self, broker_name: Name, now: float) -> None:
            before = {name: guest.state for name, guest in broker.desk.book.guests.items()}
            super().died(broker_name, now)
            for name, guest in broker.desk.book.guests.items():
                if guest.state is not before[name]:
                    judge.judge(before[name], "death", (), guest.state)

        def silent(self, guest: Any, now: float) -> None:
            call = super().silent
            watched("silence", guest.name, lambda: call(guest, now))

    broker.migration.__class__ = Watched
