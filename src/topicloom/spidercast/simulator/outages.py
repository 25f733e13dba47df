"""The faults of a scenario carried out on a world: cuts that begin and heal, nodes that freeze and thaw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.simulator.node_changes import ChangeKind, NodeChange
from topicloom.spidercast.simulator.scenario import Scenario
from topicloom.spidercast.simulator.world import World

ENDED_BY = {ChangeKind.HEAL: ChangeKind.CUT, ChangeKind.THAW: ChangeKind.FREEZE}


class Outage(NamedTuple):
    """A cut or a freeze, and how many nodes it struck; `end` is infinite if it never ended."""

    kind: str
    start: float
    end: float
    nodes: int


def traced_outages(changes: Iterable[NodeChange]) -> list[Outage]:
    """Return the cuts and freezes of a trace. Nodes struck and freed at the same times are one outage.

    >>> rows = [(1.0, 7, ChangeKind.CUT), (1.0, 8, ChangeKind.CUT), (2.0, 7, ChangeKind.HEAL)]
    >>> [tuple(one) for one in traced_outages(NodeChange(*row, None) for row in rows)]
    [('cut', 1.0, 2.0, 1), ('cut', 1.0, inf, 1)]
    """
    begun: dict[tuple[str, int], float] = {}
    found: Counter[tuple[str, float, float]] = Counter()
    for change in changes:
        if change.kind in (ChangeKind.CUT, ChangeKind.FREEZE):
            begun.setdefault((change.kind.value, change.node), change.time)
        elif change.kind in ENDED_BY:
            kind = ENDED_BY[change.kind].value
            start = begun.pop((kind, change.node), None)
            if start is not None:
                found[kind, start, change.time] += 1
    found.update((kind, start, inf) for (kind, _), start in begun.items())
    return [Outage(*when, nodes) for when, nodes in sorted(found.items())]


class Outages:
    """All faults of a scenario; who is struck is decided when this is made."""

    def __init__(
        self, world: World, interest: Interest, scenario: Scenario, trace: Iterable[NodeChange] = ()
    ) -> None:
        self._world = world
        self._traced = traced_outages(trace)
        self._alone: dict[int, dict[int, bool]] = {}  # nodes cut off by a trace
        names = interest.node_ids.to_pylist() if scenario.cuts or scenario.freezes else []
        seed = scenario.seed
        self._cuts = [
            (fault, dict.fromkeys(fault.struck(names, seed, "cut", str(number)), True))
            for number, fault in enumerate(scenario.cuts)
        ]
        self._freezes = [
            (fault, sorted(fault.struck(names, seed, "freeze", str(number))))
            for number, fault in enumerate(scenario.freezes)
        ]

    @property
    def all(self) -> list[Outage]:
        """Every fault up to now, in the order of time; one that goes on ends now."""
        struck = [("cut", *one) for one in self._cuts] + [("freeze", *one) for one in self._freezes]
        planned = [Outage(kind, fault.start, fault.end, len(nodes)) for kind, fault, nodes in struck]
        now = self._world.now
        begun = [one._replace(end=min(one.end, now)) for one in (*planned, *self._traced) if one.start <= now]
        return sorted(begun, key=lambda outage: outage[1:])

    @property
    def healed(self) -> float | None:
        """When the last cut ends, also of those that a trace makes; infinite if it never does, None without
        a cut."""
        planned = [fault.end for fault, _ in self._cuts]
        return max(planned + [one.end for one in self._traced if one.kind == "cut"], default=None)

    @property
    def last_end(self) -> float:
        """When the last fault of the parameters is over; 0 if there is none."""
        return max((fault.end for fault, _ in (*self._cuts, *self._freezes)), default=0.0)

    def begin(self) -> None:
        """Schedule the begin and the end of each."""
        call_at, cuts = self._world.call_at, self._world.cuts
        for fault, sides in self._cuts:
            call_at(fault.start, partial(_do, cuts.append, sides))
            call_at(fault.end, partial(_do, cuts.remove, sides))
        for fault, nodes in self._freezes:
            call_at(fault.start, self._each(nodes, self._world.freeze))
            call_at(fault.end, self._each(nodes, self._world.thaw))

    def _each(self, nodes: Iterable[int], do: Callable[[int], None]) -> Callable[[float], None]:
        def call(now: float) -> None:
            for node in nodes:
                if self._world.find(node) is not None:
                    do(node)

        return call

    def cut_off(self, node: int, on: bool, now: float) -> None:
        """Let a node reach nobody, or everybody again, as a trace says."""
        cuts = self._world.cuts
        if on and node not in self._alone:
            self._alone[node] = {node: True}
            cuts.append(self._alone[node])
        elif not on and node in self._alone:
            cuts.remove(self._alone.pop(node))

    def reshape(self, node: int, kind: ChangeKind, value: float) -> None:
        """Change how a node's connections behave, as a trace says."""
        shape = self._world.shape
        assert shape is not None, "a scenario whose trace has such rows shapes its links"
        if kind is ChangeKind.SLOW:
            shape.slow[node] = value
        elif kind is ChangeKind.SETUP:
            shape.setups[node] = value
        elif kind is ChangeKind.FIFO:
            (shape.ordered.add if value else shape.ordered.discard)(node)
        else:
            shape.narrow[node] = value or inf

    def both_sides(self, known: list[int], here: Sequence[int]) -> list[int]:
        """Return the entry points of a node with one on each side of every cut, as far as there are any."""
        for number, (_, sides) in enumerate(self._cuts):
            if not known or _spans(known, sides):
                continue
            across = [node for node in here if (node in sides) != (known[0] in sides)]
            if across:
                other = across[known[0] % len(across)]
                spanned = [before for _, before in self._cuts[:number] if _spans(known, before)]
                # In the place of one that no earlier cut needs.
                places = [(number + turn) % len(known) for turn in range(len(known))]
                tried = [[*known[:place], other, *known[place + 1 :]] for place in places]
                fit = (nodes for nodes in tried if all(_spans(nodes, before) for before in spanned))
                known = next(fit, tried[0])
        return known


def _spans(nodes: Iterable[int], sides: Mapping[int, bool]) -> bool:
    """Tell whether there are nodes on both sides of a cut."""
    return len({node in sides for node in nodes}) == 2


def _do(action: Callable[[Any], object], what: Any, now: float) -> None:
    action(what)
