"""How many nodes a node had to know: the potential neighbor sets of [Chen2010, IV-D]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.overlay.builders.divide.deal import clump_groups, group_sizes
from topicloom.overlay.builders.divide.plan import Plan


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Nodes, itself included, that the members of a level have to know: at least, on average, at most."""

    least: int
    average: float
    most: int


def knowledge(plan: Plan) -> list[Knowledge]:
    """What the members of each level know when its edges are chosen.

    A light node knows its group. A representative knows the other members of its group at the next level
    too, and so on; a bulk node knows the groups it is in from level 1 on. Where representatives of one group
    know different numbers of nodes, the larger one is taken for the next level.
    """
    nodes = np.array(plan.levels[0].nodes, dtype=np.float64)
    found = [_summed(nodes, nodes)]
    known = nodes  # what a member of each clump knows
    for level, dealt in enumerate(plan.levels, start=1):
        clumps = np.array(dealt.representatives, dtype=np.float64)
        n_groups, n_singles = plan.groups_at(level), plan.n_bulk if level == 1 else 0
        nodes = group_sizes(dealt.representatives, n_singles, n_groups).astype(np.float64)
        home = clump_groups(len(clumps), n_groups)
        singles = nodes - np.bincount(home, clumps, n_groups)
        by_clump = known - clumps + nodes[home]
        found.append(_summed(np.concatenate((by_clump, nodes)), np.concatenate((clumps, singles))))
        known = nodes
        np.maximum.at(known, home, np.where(clumps > 0, by_clump, 0.0))
    return found


def pn_ratio(plan: Plan) -> float:
    """The largest share of all nodes that any one node has to know [Chen2010, Equation 12]."""
    n_nodes = plan.n_bulk + sum(plan.levels[0].nodes)
    return max(known.most for known in knowledge(plan)) / max(n_nodes, 1)


def _summed(known: Floats, members: Floats) -> Knowledge:
    """Over all members; `known[i]` is what each of `members[i]` nodes knows."""
    there = members > 0
    if not there.any():
        return Knowledge(0, 0.0, 0)
    average = float((known * members).sum() / members.sum())
    return Knowledge(int(known[there].min()), round(average, 1), int(known[there].max()))
