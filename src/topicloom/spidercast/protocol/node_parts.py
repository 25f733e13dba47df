"""The parts of a node joined: what happens to all of them when a link comes or goes, and when time passes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.dissemination import Dissemination
from topicloom.spidercast.protocol.goals import Coverage, NodeGoals
from topicloom.spidercast.protocol.maintenance import MaintenanceTask
from topicloom.spidercast.protocol.membership import Membership
from topicloom.spidercast.protocol.messages import NodeId, SharedTopics, TaskId
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.probes import Probes
from topicloom.spidercast.protocol.roots import TopicRoots
from topicloom.wire.core import BaseCore, Close, LinkDown, LinkUp

MAX_KR = 4  # adaptive K_r [Chockler2007b, 3.3.1] is raised while it is at most 3


class NodeParts(BaseCore):
    """What `Node` is made of. Without `goals.root` there are neither roots nor probes."""

    __slots__ = (
        "_context", "_dissemination", "_goals", "_links", "_membership", "_probes", "_roots", "_running",
        "_tasks",
    )  # fmt: skip

    def __init__(
        self, context: NodeContext, goals: NodeGoals, membership: Callable[[NodeContext], Membership]
    ) -> None:
        super().__init__(context.effects)
        self._context, self._goals = context, goals
        self._membership = membership(context)
        self._roots: TopicRoots | None = None
        if goals.root and goals.by_coverage:
            self._roots = context.roots = TopicRoots(context, self._membership.oldest)
        self._dissemination = Dissemination(context)
        self._tasks: tuple[MaintenanceTask, ...] = tuple(
            MaintenanceTask(task, context, self._membership, goal, choice, self, self._roots)
            for task, (goal, choice) in zip(TaskId, goals.of_tasks(context.interest), strict=True)
        )
        self._probes: Probes | None = None
        if self._roots is not None:
            self._probes = Probes(context, self._roots, self._membership)
        self._links: dict[NodeId, int] = {}  # neighbor -> how many of the tasks want it
        self._running = False

    @property
    def neighbors(self) -> tuple[NodeId, ...]:
        """The other ends of all live links, oldest first."""
        return tuple(self._links)

    # -- what the tasks tell: LinkObserver --------------------------------------------------------------

    def linked(self, peer: NodeId, shared: SharedTopics, message: msg.Introduction, now: float) -> None:
        count = self._links.get(peer, 0)
        self._links[peer] = count + 1
        if count:
            return
        self._effects.append(LinkUp(peer))
        self._dissemination.link_up(peer, shared, now)
        if self._roots is not None and self._probes is not None:
            self._probes.linked(peer, message.roots, now)
            self._roots.link_up(peer, shared, message.number, message.roots, now)
            if self._roots.urgent < inf:
                self._hurry()

    def unlinked(self, peer: NodeId, reason: str, now: float) -> None:
        count = self._links[peer] - 1
        if count:
            self._links[peer] = count
            return
        del self._links[peer]
        self._effects.append(LinkDown(peer, reason))
        self._dissemination.link_down(peer, now)
        if self._roots is not None:
            self._roots.link_down(peer, now)
            self._hurry()

    def _hurry(self) -> None:
        """Send the next heartbeats early if a root changed that neighbors must hear of."""
        urgent = inf if self._roots is None else self._roots.urgent
        for task in self._tasks:
            if task.neighbors and task.beat > urgent:
                task.beat = urgent
                if self._running and urgent < self._due:
                    self._due = urgent

    def _tell_at_once(self, now: float) -> None:
        """Send the heartbeats that are due since a neighbor was given up in this very moment."""
        self._hurry()
        while any(task.beat <= now for task in self._tasks):
            for task in self._tasks:
                if task.beat <= now:
                    task.handle_timer(now)
            self._hurry()

    # -- timers -----------------------------------------------------------------------------------------

    def _close(self, peer: NodeId, reason: str, now: float) -> None:
        """Drop `peer` and have its connection closed."""
        for task in self._tasks:
            task.drop(peer, reason, now)
        self._effects.append(Close(peer, reason))
        self._rearm()

    def _give_up(self, peer: NodeId, reason: str, now: float) -> None:
        if self._running:
            for task in self._tasks:
                task.drop(peer, reason, now)
            self._rearm()

    def _time_roots(self, roots: TopicRoots, now: float) -> None:
        """Let the time of roots pass; if an older node is known and cannot be heard of, look for it soon."""
        roots.handle_timer(now)
        if roots.forsaken and self._probes is not None:
            roots.forsaken = False
            self._probes.start_early(now)

    def _excuse_stall(self, now: float) -> None:
        """Take the time for which this process was paused off the silence of its neighbors: they may have
        spoken, and nobody listened."""
        stall = now - self._due
        if stall > self._context.settings.heartbeat:
            for task in self._tasks:
                task.excuse(self._due, stall)

    def _rearm(self) -> None:
        if self._running:  # nothing is due before `start` and after `leave`
            self._set_due(self._membership.next_timer(), self._dissemination.next_timer())

    def _set_due(self, members: float, events: float) -> None:
        greedy, random = self._tasks
        due = min(
            greedy.wake, greedy.beat, greedy.alarm, random.wake, random.beat, random.alarm, members, events
        )
        if self._roots is not None and self._probes is not None:
            due = min(due, self._roots.due, self._probes.due)
        self._due = due

    # -- adaptive K_r -----------------------------------------------------------------------------------

    @property
    def _would_adapt(self) -> bool:
        """Whether K_r should be raised (3.3.1): few links mean interests too much alike."""
        random = self._tasks[TaskId.RANDOM].goal
        if not self._goals.adaptive or not isinstance(random, Coverage) or random.k >= MAX_KR:
            return False
        degree = len(self._links)
        few = degree <= self._goals.greedy if random.k == 0 else degree < len(self._context.interest)
        return few and degree > 0 and all(task.content for task in self._tasks)

    def _adapt(self, now: float) -> None:
        """Raise K_r where random links must help."""
        random = self._tasks[TaskId.RANDOM]
        if self._would_adapt and isinstance(random.goal, Coverage):
            random.goal.raise_k()
            random.interest_changed(now)
