"""A fake wire with a manual clock that joins `Node` cores, and a judge that holds every step against `RULES`.

The wire delays, loses, doubles and reorders messages as told; nodes crash, leave, come back, are cut off.
Every step of every task about every other node is taken down as (state, trigger, messages sent, state).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, NamedTuple, get_args

from spidercast.protocol.rule_judge import RuleJudge, name_of
from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.spidercast.protocol.goals import Coverage, NodeGoals, Quantity
from topicloom.spidercast.protocol.link_rules import RULES, LinkState
from topicloom.spidercast.protocol.maintenance import MaintenanceTask
from topicloom.spidercast.protocol.membership import Membership, PlainView
from topicloom.spidercast.protocol.messages import (
    CODEC,
    AskInterest,
    Connect,
    ConnectOk,
    Event,
    EventId,
    Graft,
    Have,
    Message,
    NodeId,
    Probe,
    Prune,
    Shuffle,
    ShuffleReply,
    TaskId,
    Topic,
    Topics,
    Want,
)
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Close, Deliver, Effect, Send

SILENT = (Shuffle, ShuffleReply, Event, Have, Want, Graft, Prune)  # they are about no link
KINDS = get_args(Message)


class Step(NamedTuple):
    """What one task did about one other node on one occasion."""

    time: float
    node: NodeId
    task: TaskId
    peer: NodeId
    before: LinkState
    on: str
    sent: tuple[str, ...]
    after: LinkState


class Judge(RuleJudge[LinkState]):
    """Holds the steps of maintenance tasks against the rules of a link."""

    def __init__(self) -> None:
        super().__init__(RULES)

    def judge(self, step: Step) -> None:
        self.check(step.before, step.on, step.sent, step.after, step)


class Watch:
    """A core around a node that takes down the steps of its tasks: what changes between `begin` and `end`."""

    def __init__(self, node: Node, judge: Judge, steps: list[Step]) -> None:
        self.node, self._judge, self._steps = node, judge, steps
        self._states: dict[tuple[TaskId, NodeId], LinkState] = {}
        self._effects: list[Effect] = []
        self._open: list[tuple[MaintenanceTask, str, NodeId | None, int, dict[NodeId, LinkState]]] = []
        watch = self

        class Watched(MaintenanceTask):
            """Tells of each part of `handle_timer`, as they may concern the same peer."""

            __slots__ = ()

            def _check_silence(self, now: float) -> None:
                watch.begin(self, "silence", None, now)
                super()._check_silence(now)
                watch.end(now)

            def _send_heartbeat(self, now: float) -> None:
                watch.begin(self, "beat", None, now)
                super()._send_heartbeat(now)
                watch.end(now)

            def _maintain(self, now: float) -> None:
                watch.begin(self, "maintenance", None, now)
                super()._maintain(now)
                watch.end(now)

            def leave(self, now: float) -> None:
                watch.begin(self, "leave", None, now)
                super().leave(now)
                watch.end(now)

        for id in TaskId:
            node._tasks[id].__class__ = Watched

    # -- what a driver calls ----------------------------------------------------------------------------

    def start(self, now: float) -> None:
        self.node.start(now)

    def receive(self, peer: NodeId, message: Any, now: float) -> None:
        if self.node.running and peer != self.node.name and type(message) not in SILENT:
            task = getattr(message, "task", TaskId.GREEDY if isinstance(message, Probe) else None)
            tasks = TaskId if task is None else (task,)
            self.begin_all(
                [self.node._tasks[id] for id in tasks], self._occasion(peer, message, now), peer, now
            )
        self.node.receive(peer, message, now)
        self.end(now)

    def _occasion(self, peer: NodeId, message: Any, now: float) -> str:
        """What a message is to the table of links."""
        if type(message) not in KINDS:
            return "unknown kind"
        answers, known = self.node._context.answers, peer in self.node._links
        if isinstance(message, Connect | ConnectOk):
            task = self.node._tasks[message.task]
            if task._unfit(message):
                return "unfit"
            known = peer in task.neighbors
            again = isinstance(message, Connect) and answers.has_had(
                (Connect, message.task), peer, now, known=known
            )
        else:
            again = isinstance(message, AskInterest) and answers.has_had(
                AskInterest, peer, now, known=known, most=2
            )
        return f"{name_of(message)} again" if again else name_of(message)

    def lost(self, peer: NodeId, now: float) -> None:
        self.begin_all(tasks_of(self.node), "lost", peer, now)
        self.node.lost(peer, now)
        self.end(now)

    def refused(self, peer: NodeId, now: float) -> None:
        self.begin_all(tasks_of(self.node), "refused", peer, now)
        self.node.refused(peer, now)
        self.end(now)

    def handle_timer(self, now: float) -> None:
        self.node.handle_timer(now)
        assert self.node.next_timer() > now, "a driver would spin"

    def next_timer(self) -> float:
        return self.node.next_timer()

    def take_effects(self) -> Sequence[Effect]:
        check_books(self.node)
        taken, self._effects = self._so_far(), []
        return taken

    def _so_far(self) -> list[Effect]:
        """All that was asked for since the driver took it."""
        self._effects += self.node.take_effects()
        return self._effects

    # -- the steps --------------------------------------------------------------------------------------

    def begin(self, task: MaintenanceTask, on: str, peer: NodeId | None, now: float) -> None:
        """A new step; one that is under way (a heartbeat before the look at who is silent) is over."""
        self.begin_all([task], on, peer, now)

    def begin_all(self, tasks: Iterable[MaintenanceTask], on: str, peer: NodeId | None, now: float) -> None:
        self.end(now)
        self._open = [
            (task, on, peer, len(self._so_far()), self._states_of(task, peer, now)) for task in tasks
        ]

    def _states_of(self, task: MaintenanceTask, peer: NodeId | None, now: float) -> dict[NodeId, LinkState]:
        """The states before a step; what time changed since the last one is a step of its own."""
        known = [*task.neighbors, *task._requests.pending, *(() if peer is None else (peer,))]
        known += [other for number, other in self._states if number == task.id]
        before = {other: task.state_of(other, now) for other in dict.fromkeys(known)}
        for other, state in before.items():
            last = self._states.get((task.id, other), LinkState.STRANGER)
            if state != last:
                self._note(Step(now, self.node.name, task.id, other, last, "time", (), state))
        return before

    def end(self, now: float) -> None:
        opened, self._open = self._open, []
        for step in opened:
            self._end_one(*step, now)

    def _end_one(
        self,
        task: MaintenanceTask,
        on: str,
        sender: NodeId | None,
        mark: int,
        before: dict[NodeId, LinkState],
        now: float,
    ) -> None:
        sent: dict[NodeId, list[str]] = {}
        for effect in self._so_far()[mark:]:
            if isinstance(effect, Close):
                sent.setdefault(effect.peer, []).append("close")
            elif isinstance(effect, Send) and (
                getattr(effect.message, "task", None) == task.id or on.startswith("ASK-INTEREST")
            ):
                for to in effect.to:
                    sent.setdefault(to, []).append(name_of(effect.message))
        for peer in dict.fromkeys([*before, *task.neighbors, *task._requests.pending, *sent]):
            state, after = before.get(peer, LinkState.STRANGER), task.state_of(peer, now)
            if peer == sender or peer in sent or state != after:
                # A message is about its sender alone: for anybody else there is no row.
                cause = on if sender is None or peer == sender else f"{on} of another node"
                words = tuple(sent.get(peer, ()))
                self._note(Step(now, self.node.name, task.id, peer, state, cause, words, after))

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
        goals: NodeGoals | None = None,
        latency: tuple[float, float] = (0.01, 0.01),
        as_bytes: bool = False,
        judge: Judge | None = None,
        membership: Callable[[Any], Membership] | None = None,
        **constants: Any,
    ) -> None:
        self.settings, self.goals = ProtocolSettings(**constants), goals or NodeGoals()
        self.latency, self.as_bytes = latency, as_bytes
        self.loss = self.doubling = 0.0
        self.lost: Callable[[NodeId, NodeId, Message], bool] = lambda sender, to, message: False
        self.random = Random(seed)
        self.loop: Loop[Watch] = Loop(Links(self._delay), self._carry_out)
        self.judge, self.steps = judge or Judge(), list[Step]()
        self.nodes: dict[NodeId, Node] = {}
        self.known: dict[NodeId, Topics] = {}  # the view of all
        self.lives: dict[NodeId, int] = {}
        self.log: list[tuple[float, NodeId, Effect]] = []
        self.delivered: Counter[tuple[NodeId, int, EventId]] = Counter()
        self._membership = membership or (lambda context: PlainView(self.known))
        self._groups: dict[NodeId, int] = {}

    @property
    def now(self) -> float:
        return self.loop.now

    # -- nodes ------------------------------------------------------------------------------------------

    def add(self, name: NodeId, topics: Iterable[Topic], **options: Any) -> Node:
        """A node that begins now; under a name that was used before it is a new life of that node."""
        node = self.place(name, topics, **options)
        self.loop.tell(name, lambda watch: watch.start(self.now))
        return node

    def place(self, name: NodeId, topics: Iterable[Topic], *, goals: NodeGoals | None = None) -> Node:
        """A node that has not begun."""
        assert name not in self.nodes
        life = self.lives[name] = self.lives.get(name, 0) + 1
        node = self.nodes[name] = Node(
            name,
            topics,
            membership=self._membership,
            rng=Random(f"{self.random.random()} {name}"),
            settings=self.settings,
            goals=goals or self.goals,
            incarnation=life * 1000,
        )
        self.loop.seat(name, Watch(node, self.judge, self.steps))
        self.known[name] = node.interest
        return node

    def crash(self, name: NodeId) -> None:
        """Gone without a word; the view of all hears of it when the detectors do."""
        self._remove(name)
        life = self.lives[name]

        def noticed(now: float) -> None:
            if self.lives[name] == life:
                self.known.pop(name, None)

        self.loop.call_at(self.now + self.settings.detector, noticed)

    def leave(self, name: NodeId) -> None:
        self.nodes[name].leave(self.now)
        self.loop.settle(name)
        self._remove(name)
        self.known.pop(name, None)

    def _remove(self, name: NodeId) -> None:
        self.loop.remove(name)
        del self.nodes[name]

    def cut(self, *groups: Iterable[NodeId]) -> None:
        """Nothing passes between the groups any more; without groups everything does."""
        self._groups = {name: number for number, group in enumerate(groups) for name in group}

    def subscribe(self, name: NodeId, topics: Iterable[Topic]) -> None:
        self.nodes[name].subscribe(topics, self.now)
        self.known[name] = self.nodes[name].interest
        self.loop.settle(name)

    def unsubscribe(self, name: NodeId, topics: Iterable[Topic]) -> None:
        self.nodes[name].unsubscribe(topics, self.now)
        self.known[name] = self.nodes[name].interest
        self.loop.settle(name)

    def publish(self, name: NodeId, topic: Topic) -> EventId:
        id = self.nodes[name].publish(topic, b"", self.now)
        self.loop.settle(name)
        return id

    # -- time and messages ------------------------------------------------------------------------------

    def run(self, seconds: float) -> None:
        """All that happens in the next `seconds`."""
        self.loop.run(self.now + seconds)

    def hand(self, to: NodeId, sender: NodeId, message: Message) -> None:
        """A message arrives this moment, whether or not anybody sent it."""
        self.loop.hand(to, sender, message)

    def _carry_out(self, name: NodeId, effects: Sequence[Effect], cause: Message | None) -> None:
        for effect in effects:
            self.log.append((self.now, name, effect))
            if isinstance(effect, Send):
                for to in effect.to:
                    self._send(name, to, effect.message)
            elif isinstance(effect, Deliver):
                self.delivered[name, self.lives[name], effect.event.id] += 1

    def _send(self, sender: NodeId, to: NodeId, message: Message) -> None:
        if self._groups.get(sender) != self._groups.get(to) or self.lost(sender, to, message):
            return
        for _ in range(1 + (self.random.random() < self.doubling)):
            self.loop.send(sender, (to,), CODEC.decode(CODEC.encode(message)) if self.as_bytes else message)

    def _delay(self, sender: NodeId, to: NodeId) -> float | None:
        return None if self.random.random() < self.loss else self.random.uniform(*self.latency)

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

    def state(self, name: NodeId, peer: NodeId, task: TaskId = TaskId.GREEDY) -> LinkState:
        return self.nodes[name]._tasks[task].state_of(peer, self.now)

    def one_sided(self) -> list[tuple[NodeId, NodeId, TaskId]]:
        """Links that one end does not know of, the dead included."""
        return [
            (name, peer, task.id)
            for name, node in self.nodes.items()
            for task in tasks_of(node)
            for peer in task.neighbors
            if peer not in self.nodes or name not in self.nodes[peer]._tasks[task.id].neighbors
        ]

    def uncovered(self) -> list[tuple[NodeId, Topic]]:
        """Topics with fewer than K_g neighbors though somebody who wants them is none and has room."""
        found = []
        for name, node in self.nodes.items():
            task = node._tasks[TaskId.GREEDY]
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
                    and has_room(theirs._tasks[TaskId.GREEDY])
                ]
                if cover < node._goals.greedy and others:
                    found.append((name, topic))
        return found


def tasks_of(node: Node) -> list[MaintenanceTask]:
    return [node._tasks[id] for id in TaskId]


def check_books(node: Node) -> None:
    """What is counted on the way is what counting anew gives."""
    for task in tasks_of(node):
        counted = [neighbor for neighbor in task.neighbors.values() if not neighbor.doubted]
        for neighbor in task.neighbors.values():
            assert set(neighbor.shared) == node.interest & neighbor.interest
        if isinstance(task.goal, Coverage):
            cover = {topic: sum(topic in other.interest for other in counted) for topic in node.interest}
            assert task.goal._counts == cover
        elif isinstance(task.goal, Quantity):
            assert task.goal._neighbors == len(counted)
    assert node._links == Counter(peer for task in tasks_of(node) for peer in task.neighbors)
    assert set(node._dissemination._links) == set(node._links)


def has_room(task: MaintenanceTask) -> bool:
    return len(task.neighbors) < task.goal.limit + task._context.settings.margin
