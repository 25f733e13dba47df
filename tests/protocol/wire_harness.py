"""A fake wire with a manual clock that joins `Node` cores, and a judge that holds every step against `RULES`.

The wire delays, loses, doubles and reorders messages as told; nodes crash, leave, come back, are cut off.
Every step of every task about every other node is taken down as (state, trigger, messages sent, state).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from math import inf
from random import Random
from typing import Any, NamedTuple

from topicloom.protocol.coverage import Coverage, Quantity
from topicloom.protocol.effects import Deliver, Effect, Send
from topicloom.protocol.membership import Membership, PlainView
from topicloom.protocol.messages import EventId, Message, NodeId, TaskId, Topic, Topics
from topicloom.protocol.node import Node
from topicloom.protocol.plan import Plan
from topicloom.protocol.rules import RULES, Rule, State
from topicloom.protocol.settings import Settings
from topicloom.protocol.task import Task
from topicloom.protocol.wire import decode, encode


def name_of(message: Message) -> str:
    """A message as the table calls it: CONNECT-OK."""
    return str(message.__struct_config__.tag).upper()


class Step(NamedTuple):
    """What one task did about one other node on one occasion."""

    time: float
    node: NodeId
    task: TaskId
    peer: NodeId
    before: State
    on: str
    sent: tuple[str, ...]
    after: State


def permits(rule: Rule, step: Step) -> bool:
    """Is the step one of this row? `then` equal to `states` means: no change."""
    return (
        step.before in rule.states
        and step.on == rule.on
        and step.sent == ((rule.send,) if rule.send else ())
        and (step.after == step.before if rule.then == rule.states else step.after in rule.then)
    )


class Judge:
    """Refuses steps that no row permits, and remembers which rows were seen from which states."""

    def __init__(self) -> None:
        self.seen: Counter[tuple[int, State]] = Counter()

    def judge(self, step: Step) -> None:
        rows = [number for number, rule in enumerate(RULES) if permits(rule, step)]
        assert rows, f"no row of the table permits {step}"
        for row in rows:
            self.seen[row, step.before] += 1

    def unseen(self) -> list[str]:
        """Rows of the table, state by state, that never happened."""
        pairs = ((number, state) for number, rule in enumerate(RULES) for state in rule.states)
        return [
            f"{state.value}: {RULES[number]}" for number, state in pairs if (number, state) not in self.seen
        ]


class Watch:
    """Takes down the steps of a node's tasks: what changes between `begin` and the next `begin` or `end`."""

    def __init__(self, node: Node, judge: Judge, steps: list[Step]) -> None:
        self._node, self._judge, self._steps = node, judge, steps
        self._states: dict[tuple[TaskId, NodeId], State] = {}
        self._open: tuple[Task, str, NodeId | None, int, dict[NodeId, State]] | None = None
        watch = self

        class Watched(Task):
            """Tells of each part of `handle_timer`, as they may concern the same peer."""

            __slots__ = ()

            def _listen(self, now: float) -> None:
                watch.begin(self, "silence", None, now)
                super()._listen(now)
                watch.end(now)

            def _speak(self, now: float) -> None:
                watch.begin(self, "beat", None, now)
                super()._speak(now)
                watch.end(now)

            def _maintain(self, now: float) -> None:
                watch.begin(self, "maintenance", None, now)
                super()._maintain(now)
                watch.end(now)

            def leave(self, now: float) -> None:
                watch.begin(self, "leave", None, now)
                super().leave(now)
                watch.end(now)

        for task in node.tasks:
            task.__class__ = Watched

    def begin(self, task: Task, on: str, peer: NodeId | None, now: float) -> None:
        """A new step; one that is under way (a heartbeat before the look at who is silent) is over."""
        self.end(now)
        known = [*task.neighbors, *task._requests.pending, *(() if peer is None else (peer,))]
        known += [other for number, other in self._states if number == task.id]
        before = {other: task.state_of(other, now) for other in dict.fromkeys(known)}
        for other, state in before.items():
            last = self._states.get((task.id, other), State.STRANGER)
            if state != last:
                self._note(Step(now, self._node.name, task.id, other, last, "time", (), state))
        self._open = (task, on, peer, len(self._node.effects), before)

    def end(self, now: float) -> None:
        if self._open is None:
            return
        task, on, sender, mark, before = self._open
        self._open = None
        sent: dict[NodeId, list[str]] = {}
        for effect in self._node.effects[mark:]:
            if isinstance(effect, Send) and getattr(effect.message, "task", None) == task.id:
                for to in effect.to:
                    sent.setdefault(to, []).append(name_of(effect.message))
        for peer in dict.fromkeys([*before, *task.neighbors, *task._requests.pending, *sent]):
            state, after = before.get(peer, State.STRANGER), task.state_of(peer, now)
            if peer == sender or peer in sent or state != after:
                # A message is about its sender alone: for anybody else there is no row.
                cause = on if sender is None or peer == sender else f"{on} of another node"
                words = tuple(sent.get(peer, ()))
                self._note(Step(now, self._node.name, task.id, peer, state, cause, words, after))

    def _note(self, step: Step) -> None:
        self._judge.judge(step)
        self._steps.append(step)
        self._states[step.task, step.peer] = step.after


class Wire:
    """Nodes in virtual time. Public attributes may be set at any time and hold from then on."""

    def __init__(
        self,
        seed: int = 1,
        *,
        plan: Plan | None = None,
        latency: tuple[float, float] = (0.01, 0.01),
        as_bytes: bool = False,
        judge: Judge | None = None,
        membership: Callable[[Any], Membership] | None = None,
        **constants: Any,
    ) -> None:
        self.settings, self.plan = Settings(**constants), plan or Plan()
        self.latency, self.as_bytes = latency, as_bytes
        self.loss = self.doubling = 0.0
        self.lost: Callable[[NodeId, NodeId, Message], bool] = lambda sender, to, message: False
        self.now = 0.0
        self.random = Random(seed)
        self.judge, self.steps = judge or Judge(), list[Step]()
        self.nodes: dict[NodeId, Node] = {}
        self.known: dict[NodeId, Topics] = {}  # the view of all
        self.lives: dict[NodeId, int] = {}
        self.log: list[tuple[float, NodeId, Effect]] = []
        self.delivered: Counter[tuple[NodeId, int, EventId]] = Counter()
        self._membership = membership or (lambda context: PlainView(self.known))
        self._watches: dict[NodeId, Watch] = {}
        self._groups: dict[NodeId, int] = {}
        self._mail: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    # -- nodes ------------------------------------------------------------------------------------------

    def add(self, name: NodeId, topics: Iterable[Topic], **options: Any) -> Node:
        """A node that begins now; under a name that was used before it is a new life of that node."""
        node = self.place(name, topics, **options)
        node.start(self.now)
        self.settle(name)
        return node

    def place(self, name: NodeId, topics: Iterable[Topic], *, plan: Plan | None = None) -> Node:
        """A node that has not begun."""
        assert name not in self.nodes
        life = self.lives[name] = self.lives.get(name, 0) + 1
        node = self.nodes[name] = Node(
            name,
            topics,
            membership=self._membership,
            rng=Random(f"{self.random.random()} {name}"),
            settings=self.settings,
            plan=plan or self.plan,
            version=life * 1000,
        )
        self._watches[name] = Watch(node, self.judge, self.steps)
        self.known[name] = node.interest
        return node

    def crash(self, name: NodeId) -> None:
        """Gone without a word; the view of all hears of it when the detectors do."""
        del self.nodes[name]
        life = self.lives[name]

        def noticed() -> None:
            if self.lives[name] == life:
                self.known.pop(name, None)

        self.at(self.now + self.settings.detector, noticed)

    def leave(self, name: NodeId) -> None:
        self.nodes[name].leave(self.now)
        self.settle(name)
        del self.nodes[name]
        self.known.pop(name, None)

    def cut(self, *groups: Iterable[NodeId]) -> None:
        """Nothing passes between the groups any more; without groups everything does."""
        self._groups = {name: number for number, group in enumerate(groups) for name in group}

    def subscribe(self, name: NodeId, topics: Iterable[Topic]) -> None:
        self.nodes[name].subscribe(topics, self.now)
        self.known[name] = self.nodes[name].interest
        self.settle(name)

    def unsubscribe(self, name: NodeId, topics: Iterable[Topic]) -> None:
        self.nodes[name].unsubscribe(topics, self.now)
        self.known[name] = self.nodes[name].interest
        self.settle(name)

    def publish(self, name: NodeId, topic: Topic) -> EventId:
        id = self.nodes[name].publish(topic, b"", self.now)
        self.settle(name)
        return id

    # -- time and messages ------------------------------------------------------------------------------

    def at(self, time: float, action: Callable[[], None]) -> None:
        heappush(self._mail, (time, next(self._order), action))

    def run(self, seconds: float) -> None:
        """All that happens in the next `seconds`."""
        end = self.now + seconds
        while True:
            name = min(self.nodes, key=lambda name: self.nodes[name].next_timer(), default=None)
            timer = inf if name is None else self.nodes[name].next_timer()
            mail = self._mail[0][0] if self._mail else inf
            if min(timer, mail) > end:
                break
            if mail <= timer:
                self.now, _, action = heappop(self._mail)
                action()
            else:
                assert name is not None
                self.now = max(self.now, timer)
                self.nodes[name].handle_timer(self.now)
                assert self.nodes[name].next_timer() > self.now, "a driver would spin"
                self.settle(name)
        self.now = end

    def hand(self, to: NodeId, sender: NodeId, message: Message) -> None:
        """A message arrives this moment, whether or not anybody sent it."""
        node = self.nodes.get(to)
        if node is None:
            return
        task = getattr(message, "task", None)
        watch = self._watches[to]
        if task is not None and node.running and sender != to:
            watch.begin(node.tasks[task], name_of(message), sender, self.now)
        node.receive(sender, message, self.now)
        watch.end(self.now)
        self.settle(to)

    def settle(self, name: NodeId) -> None:
        """Carry out what a node asks for."""
        check_books(self.nodes[name])
        for effect in self.nodes[name].take_effects():
            self.log.append((self.now, name, effect))
            if isinstance(effect, Send):
                for to in effect.to:
                    self._send(name, to, effect.message)
            elif isinstance(effect, Deliver):
                self.delivered[name, self.lives[name], effect.id] += 1

    def _send(self, sender: NodeId, to: NodeId, message: Message) -> None:
        if self._groups.get(sender) != self._groups.get(to) or self.lost(sender, to, message):
            return
        copies = 1 + (self.random.random() < self.doubling)
        for _ in range(copies):
            if self.random.random() < self.loss:
                continue
            carried = decode(encode(message)[4:]) if self.as_bytes else message
            self.at(
                self.now + self.random.uniform(*self.latency),
                lambda carried=carried: self.hand(to, sender, carried),  # type: ignore[misc]
            )

    # -- what tests look at -----------------------------------------------------------------------------

    def sent(self, kind: type, sender: NodeId | None = None, to: NodeId | None = None) -> list[Any]:
        """All messages of a kind that were sent so far."""
        return [
            effect.message
            for _, name, effect in self.log
            if isinstance(effect, Send)
            and type(effect.message) is kind
            and sender in (None, name)
            and (to is None or to in effect.to)
        ]

    def state(self, name: NodeId, peer: NodeId, task: TaskId = TaskId.GREEDY) -> State:
        return self.nodes[name].tasks[task].state_of(peer, self.now)

    def one_sided(self) -> list[tuple[NodeId, NodeId, TaskId]]:
        """Links that one end does not know of, the dead included."""
        return [
            (name, peer, task.id)
            for name, node in self.nodes.items()
            for task in node.tasks
            for peer in task.neighbors
            if peer not in self.nodes or name not in self.nodes[peer].tasks[task.id].neighbors
        ]

    def uncovered(self) -> list[tuple[NodeId, Topic]]:
        """Topics with fewer than K_g neighbors though somebody who wants them is none and has room."""
        found = []
        for name, node in self.nodes.items():
            task = node.tasks[TaskId.GREEDY]
            if not has_room(task):
                continue
            for topic in node.interest:
                cover = sum(
                    topic in self.nodes[peer].interest for peer in task.neighbors if peer in self.nodes
                )
                others = [
                    other
                    for other, theirs in self.nodes.items()
                    if other not in (name, *task.neighbors)
                    and topic in theirs.interest
                    and has_room(theirs.tasks[TaskId.GREEDY])
                ]
                if cover < node.plan.greedy and others:
                    found.append((name, topic))
        return found


def check_books(node: Node) -> None:
    """What is counted on the way is what counting anew gives."""
    for task in node.tasks:
        counted = [neighbor for neighbor in task.neighbors.values() if not neighbor.doubted]
        for neighbor in task.neighbors.values():
            assert neighbor.shared == node.interest & neighbor.interest
        if isinstance(task.goal, Coverage):
            cover = {topic: sum(topic in other.interest for other in counted) for topic in node.interest}
            assert task.goal._counts == cover
        elif isinstance(task.goal, Quantity):
            assert task.goal._neighbors == len(counted)
    assert node._links == Counter(peer for task in node.tasks for peer in task.neighbors)
    assert set(node.dissemination._links) == set(node._links)


def has_room(task: Task) -> bool:
    return len(task.neighbors) < task.goal.limit + task._context.settings.margin
