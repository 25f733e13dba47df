"""A judge of every step that brokers take about a user: each must be one of the table in `user_rules.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.messages import Letter, Name
from topicloom.content.brokers.migration import Migration
from topicloom.content.brokers.user_rules import RULES, UserRule, UserState
from topicloom.wire.core import Effect, Send

UNJUDGED = frozenset({"delivery", "redirect", "forward", "news", "ask-news", "publish"})


def permits(rule: UserRule, before: UserState, on: str, sent: tuple[str, ...], after: UserState) -> bool:
    """Tell whether a step is one of this row. `then` equal to `states` means: no change."""
    return (
        before in rule.states
        and on == rule.on
        and (after == before if rule.then == rule.states else after in rule.then)
        and all(word in rule.send for word in sent)
        and (not rule.send or rule.send[0] in sent or rule.send[0] in ("HANDED-OVER", "CANCEL"))
    )


def state_of(broker: Broker, user: Name) -> UserState:
    record = broker.state.users.records.get(user)
    return UserState.ABSENT if record is None else record.state


class Judge:
    """Refuses steps that no row permits, and remembers which rows were seen."""

    def __init__(self) -> None:
        self.seen: Counter[int] = Counter()

    def judge(self, before: UserState, on: str, sent: tuple[str, ...], after: UserState) -> None:
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

    def watched(self, on: str, user: Name, work: Callable[[], Any]) -> Any:
        before, mark = state_of(self._broker, user), len(self._so_far())
        result = work()
        sent = [
            str(effect.message.body.__struct_config__.tag)
            for effect in self._so_far()[mark:]
            if isinstance(effect, Send)
            and isinstance(effect.message, Letter)
            and user in (*effect.to, getattr(effect.message.body, "user", None))
        ]
        words = tuple(dict.fromkeys(word.upper() for word in sent if word not in UNJUDGED))
        self._judge.judge(before, on, words, state_of(self._broker, user))
        return result


def _watch(broker: Broker, judge: Judge, watched: Callable[[str, Name, Callable[[], Any]], Any]) -> None:
    """Have `watched` called for every step of the broker."""

    def wrap(kind: type, handler: Callable[..., Any]) -> Callable[..., Any]:
        tag = str(kind.__struct_config__.tag)  # type: ignore[attr-defined]

        def handle(peer: Name, body: Any, now: float) -> Any:
            user = getattr(body, "user", peer)
            return watched(tag.upper(), user, lambda: handler(peer, body, now))

        return handler if tag in UNJUDGED else handle

    for handlers in (broker._from_users, broker._from_brokers):
        handlers.update({kind: wrap(kind, handler) for kind, handler in handlers.items()})

    class Watched(Migration):
        """Tells of what happens without a message."""

        __slots__ = ()

        def request_to_move(self, record: Any, foreign: Name, now: float) -> bool:
            possible = record.state is UserState.ATTACHED and broker.state.others.alive(foreign)
            call = super().request_to_move
            return watched("decision", record.name, lambda: call(record, foreign, now)) if possible else False

        def expire(self, name: Name, now: float) -> None:
            record, call = broker.state.users.records.get(name), super().expire
            if record is not None and record.deadline <= now:
                watched("time", name, lambda: call(name, now))
            else:
                call(name, now)

        def broker_died(self, broker_name: Name, now: float) -> None:
            before = {name: record.state for name, record in broker.state.users.records.items()}
            super().broker_died(broker_name, now)
            for name, record in broker.state.users.records.items():
                if record.state is not before[name]:
                    judge.judge(before[name], "death", (), record.state)

        def forget_silent(self, record: Any, now: float) -> None:
            call = super().forget_silent
            watched("silence", record.name, lambda: call(record, now))

    broker.migration.__class__ = Watched
