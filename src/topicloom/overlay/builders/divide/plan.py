"""Who takes part at which level of divide and conquer, decided by representatives before any edge is built.

Level 0 is the paper's conquer phase: light nodes in groups. The paper combines in one step; that step would
hold all bulk nodes and representatives in one kernel call. So while they are more than `kernel_nodes`, they
are themselves dealt out, built group by group, and represented (levels 1, 2, ...). What is left fits one
call, the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Protocol

from topicloom.base.parameters import Parameter
from topicloom.base.summaries import Summary
from topicloom.overlay.builders.divide.groups import cheapest_group_count, count_groups, fewest_groups

Eta = Annotated[
    int | str, Parameter("nodes with more topics are bulk; auto leaves at most 20% bulk", ("auto",), 0)
]
KernelNodes = Annotated[
    int,
    Parameter("the most nodes of a group, and of what is joined at once, unless p asks for more", least=1),
]

GM, GM_M, BALANCED = "gm", "gm-m", "balanced"
Inner = Annotated[
    str,
    Parameter(
        "how groups and levels are built; balanced is gm under a cap on degrees", choices=(GM, GM_M, BALANCED)
    ),
]
Polish = Annotated[
    int | str,
    Parameter(
        "local search in every group at the end: moves per edge, 0 only relieves nodes above the cap; auto: "
        "0 with balanced",
        ("auto", "none"),
        0,
    ),
]

# Numbers of groups, level by level: together with the seed they say where every node goes.
Groups = tuple[int, ...]


class LevelSizes(Summary, frozen=True):
    """The groups of one level: how many nodes each has, and how many of them represent it."""

    nodes: tuple[int, ...]
    representatives: tuple[int, ...]


class Polished(Summary, frozen=True):
    """What polishing has come to: edges within groups afterwards, the largest degree of all nodes."""

    cap: int
    edges: int
    edges_saved: int
    degree_max: int
    degree_max_before: int


class DivideEngine(Protocol):
    """Where divide and conquer takes place: arrays in memory, or tables on Spark."""

    @property
    def n_bulk(self) -> int:
        """Return how many nodes are not dealt out at level 0."""

    @property
    def n_light(self) -> int:
        """Return how many are."""

    def represent(self, groups: Groups) -> LevelSizes:
        """Deal the members of the last of these levels out and choose representatives of each group."""

    def build(self, groups: Groups, level: int) -> int:
        """Build the edges of all groups of a level; after the last level there is one group of who is left.

        The number of edges.
        """

    def polish(self, groups: Groups, moves: int) -> Polished:
        """Improve every group of light nodes when all edges are there; what that has come to."""


@dataclass(frozen=True, slots=True)
class DivideSettings:
    """What shapes the plan. `lambda_` None: every node represents its group (DCB-M)."""

    p: int | str
    lambda_: int | None
    kernel_nodes: int
    eta: int | str = "auto"
    inner: Inner = GM_M
    polish: int | str = "auto"

    def parameters(self) -> dict[str, int | str]:
        """Return what a build's summary says of them."""
        coverage = {} if self.lambda_ is None else {"lambda_": self.lambda_}
        how = {"inner": self.inner, "polish": self.polish}
        return {"eta": self.eta, **coverage, "p": self.p, "kernel_nodes": self.kernel_nodes, **how}

    @property
    def moves(self) -> int | None:
        """Return the moves per edge of polishing; None if nothing is polished."""
        if isinstance(self.polish, str):
            return 0 if self.polish == "auto" and self.inner == BALANCED else None
        return int(self.polish)


@dataclass(frozen=True, slots=True)
class DividePlan:
    """All levels; `n_last` nodes are left for the last kernel call."""

    groups: Groups
    levels: tuple[LevelSizes, ...]
    n_bulk: int
    n_last: int
    kernel_nodes: int
    asked: bool = False  # was the number of groups of the first level asked for?

    @property
    def n_steps(self) -> int:
        """Count the levels, with the last call if anybody is left for it."""
        return len(self.groups) + (1 if self.n_last else 0)

    def groups_at(self, level: int) -> int:
        """Return how many groups are built at a level."""
        return self.groups[level] if level < len(self.groups) else 1

    @property
    def largest_call(self) -> int:
        """Return the most nodes that one kernel call gets."""
        return max([self.n_last, *(size for level in self.levels for size in level.nodes)])

    def remark(self) -> str | None:
        """Return what the user should know about a plan that does not keep to the limit."""
        if self.largest_call <= self.kernel_nodes:
            return None
        what = "the last call is flat: it" if self.n_last == self.largest_call else "a group"
        if self.groups[0] == 1 and self.n_last < self.largest_call:
            what = "the build is flat: its only group"
        why = "smaller groups would leave over half of their nodes as representatives"
        if self.asked and self.largest_call == max(self.levels[0].nodes, default=0):
            why = f"p = {self.groups[0]} asks for it"
        return (
            f"{what} holds {self.largest_call:,} nodes, more than kernel_nodes = {self.kernel_nodes:,}: {why}"
        )


def plan_levels(engine: DivideEngine, settings: DivideSettings) -> DividePlan:
    """Deal out until what is left fits one kernel call.

    A level that leaves more than half of its nodes as representatives gets groups twice as large; when only
    one group is left, it is the last call and holds them all.
    """
    groups: Groups = (_first_level(engine, settings),)
    levels = [engine.represent(groups)]
    clumps, singles = levels[0].representatives, engine.n_bulk
    while settings.lambda_ is not None and (n_left := sum(clumps) + singles) > settings.kernel_nodes:
        count = fewest_groups(clumps, singles, settings.kernel_nodes)
        dealt = _halved(engine, groups, count, n_left)
        if dealt is None:
            break
        groups = (*groups, len(dealt.nodes))
        levels.append(dealt)
        clumps, singles = dealt.representatives, 0
    n_last, asked = sum(clumps) + singles, not isinstance(settings.p, str)
    return DividePlan(groups, tuple(levels), engine.n_bulk, n_last, settings.kernel_nodes, asked)


def _halved(engine: DivideEngine, groups: Groups, count: int, n_nodes: int) -> LevelSizes | None:
    """Return the next level in at most `count` groups that at most half of the nodes represent, or None."""
    while count > 1:
        dealt = engine.represent((*groups, count))
        if 2 * sum(dealt.representatives) <= n_nodes:
            return dealt
        count = -(-count // 2)
    return None


def _first_level(engine: DivideEngine, settings: DivideSettings) -> int:
    """Return how many groups the light nodes are dealt out to; never more than there are light nodes.

    A number that was asked for stands. `auto` takes the largest groups that the limit allows; larger ones
    still where what is left does not fit one call and over half of the light nodes are representatives.
    """
    n_light = engine.n_light
    if not isinstance(settings.p, str):
        return min(int(settings.p), n_light)
    count = count_groups(n_light, settings.kernel_nodes)
    if settings.lambda_ is None or n_light == 0:
        return count

    def representatives(count: int) -> int:
        return sum(engine.represent((count,)).representatives)

    if settings.p == "paper":
        return cheapest_group_count(n_light, count, lambda count: engine.n_bulk + representatives(count))
    while count > 1:
        chosen = representatives(count)
        if engine.n_bulk + chosen <= settings.kernel_nodes or 2 * chosen <= n_light:
            break
        count = -(-count // 2)
    return count
