"""Divide and conquer on arrays in this process: groups side by side on a few threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Ints, Longs, pointers
from topicloom.base.kernels.parallel import default_threads, for_bounds
from topicloom.base.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.overlay.builders.build_progress import ShareOfProgress
from topicloom.overlay.builders.constrained import Edges
from topicloom.overlay.builders.divide.groups import SINGLE, BulkSplit, deal_members, hash_ranks, split_bulk
from topicloom.overlay.builders.divide.phases import (
    build_inner,
    build_outer,
    choose_representatives,
    topics_elsewhere,
)
from topicloom.overlay.builders.divide.plan import (
    GM_M,
    DivideSettings,
    Groups,
    Inner,
    LevelSizes,
    Polished,
)
from topicloom.overlay.builders.divide.polish import polish_cap, polish_group
from topicloom.overlay.builders.divide.run import run_phases
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def divide_and_conquer(
    interest: Interest,
    algorithm: str,
    settings: DivideSettings,
    *,
    seed: int,
    threads: int | None,
    progress: Progress,
) -> Build:
    """Build by DCBR-M, and with `lambda_` None by DCB-M, in this process."""
    watch = Stopwatch(progress)
    with watch.phase("split nodes"):
        split = split_bulk(interest, settings.eta)
        engine = LocalDivide(
            interest,
            split,
            lambda_=settings.lambda_,
            inner=settings.inner,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    report = {"eta": split.eta} | run_phases(engine, settings, watch)
    return Build(engine.overlay(), algorithm, settings.parameters(), seed, watch.seconds, report)


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Who takes part at a level: node numbers, ascending, each with its clump, or else its rank."""

    nodes: Ints
    clump: Ints
    rank: Longs
    n_clumps: int


class LocalDivide:
    """A `DivideEngine` over an interest in memory."""

    def __init__(
        self,
        interest: Interest,
        split: BulkSplit,
        *,
        lambda_: int | None,
        inner: Inner = GM_M,
        seed: int,
        threads: int | None = None,
        progress: Progress = SILENT,
    ) -> None:
        self.interest, self.lambda_, self.inner, self.seed = interest, lambda_, inner, seed
        self.threads = threads or default_threads()
        self.progress = progress
        self.light = self._singles(split.light)
        self.bulk = self._singles(split.bulk)
        self.n_light, self.n_bulk = len(split.light), len(split.bulk)
        self.degree = np.zeros(interest.n_nodes, dtype=np.int64)
        self.edges: list[Edges] = []
        self._chosen: dict[Groups, tuple[Ints, Ints]] = {}

    def overlay(self) -> Overlay:
        """Return all edges built so far; those of different groups and levels are different edges."""
        none = np.zeros(0, np.int32)
        ends = [np.concatenate((none, *(pair[side] for pair in self.edges))) for side in (0, 1)]
        return Overlay.from_edges(self.interest.node_ids, *ends)

    def represent(self, groups: Groups) -> LevelSizes:
        members = self.members(groups[:-1])
        # At level 0 bulk nodes count too, for they have to be joined.
        everybody = self.interest if len(groups) == 1 else self.interest.restrict(members.nodes)
        whole = everybody.topic_sizes()
        chosen, sizes, counts = [np.zeros(0, np.int32)], [], []
        for nodes, group in self._groups(members, groups[-1]):
            check_stop(self.progress)
            picked = nodes
            if self.lambda_ is not None:
                wanted = topics_elsewhere(group, whole)
                picked = nodes[choose_representatives(group, lambda_=self.lambda_, wanted=wanted)]
            chosen.append(picked)
            sizes.append(len(nodes))
            counts.append(len(picked))
        clump = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        self._chosen[groups] = (np.concatenate(chosen), clump)
        return LevelSizes(tuple(sizes), tuple(counts))

    def build(self, groups: Groups, level: int) -> int:
        members = self.members(groups[:level])
        n_groups = groups[level] if level < len(groups) else 1
        parts = self._groups(members, n_groups)
        edges = self._side_by_side(members, parts, level)
        for u, v in edges:
            np.add.at(self.degree, u, 1)
            np.add.at(self.degree, v, 1)
        self.edges += edges
        return sum(len(u) for u, _ in edges)

    def polish(self, groups: Groups, moves: int) -> Polished:
        parts = self._groups(self.light, groups[0])
        before = int(self.degree.max(initial=0))
        sizes, counts = np.unique(self.degree[self.degree > 0], return_counts=True)
        cap = min(polish_cap(sizes, counts, self.interest.n_nodes), before)

        def work(number: int, _: int) -> Edges:
            nodes, group = parts[number]
            one, other = (np.searchsorted(nodes, end).astype(np.int32) for end in self.edges[number])
            degree = self.degree[nodes]
            u, v = polish_group(group, (one, other), degree, cap, moves, self.seed, self.progress)
            return nodes[u], nodes[v]

        bounds = [(number, number + 1) for number in range(len(parts))]
        polished = for_bounds(work, bounds, threads=self.threads, progress=self.progress)
        inner = sum(len(u) for u, _ in self.edges[: len(parts)])
        self.edges[: len(parts)] = polished
        self.degree = np.bincount(
            np.concatenate([end for edges in self.edges for end in edges]), minlength=self.interest.n_nodes
        )
        edges = sum(len(u) for u, _ in polished)
        return Polished(cap, edges, inner - edges, int(self.degree.max(initial=0)), before)

    def members(self, groups: Groups) -> Members:
        """Return who takes part after these levels."""
        if not groups:
            return self.light
        nodes, clump = self._chosen[groups]
        rank = np.zeros(len(nodes), dtype=np.int64)
        if len(groups) == 1:
            nodes, clump = np.concatenate((nodes, self.bulk.nodes)), np.concatenate((clump, self.bulk.clump))
            rank = np.concatenate((rank, self.bulk.rank))
        order = np.argsort(nodes)
        return Members(nodes[order], clump[order], rank[order], groups[-1])

    def _singles(self, nodes: Ints) -> Members:
        rank = hash_ranks(self.interest.node_ids.take(pa.array(nodes)), self.seed)
        return Members(nodes, np.full(len(nodes), SINGLE, np.int32), rank, 0)

    def _groups(self, members: Members, n_groups: int) -> list[tuple[Ints, Interest]]:
        group = deal_members(members.clump, members.rank, members.n_clumps, n_groups)
        dealt = members.nodes[np.argsort(group, kind="stable")]
        parts = [dealt[start:stop] for start, stop in pairwise(pointers(group, n_groups))]
        return [(nodes, self.interest.restrict(nodes)) for nodes in parts]

    def _side_by_side(
        self, members: Members, parts: Sequence[tuple[Ints, Interest]], level: int
    ) -> list[Edges]:
        """Return the edges of all groups by node number; `progress` advances by the number of groups."""
        total = max(sum(group.n_subscriptions for _, group in parts), 1)
        each = max(self.threads // max(len(parts), 1), 1)
        degree_max = int(self.degree.max(initial=0))
        left = False

        def build(number: int, _: int) -> Edges:
            nodes, group = parts[number]
            share = ShareOfProgress(self.progress, len(parts) * group.n_subscriptions / total, lambda: left)
            if level == 0:
                u, v = build_inner(group, self.inner, threads=each, progress=share)
            else:
                clump = members.clump[np.searchsorted(members.nodes, nodes)]
                degree = self.degree[nodes]
                u, v = build_outer(group, clump, degree, degree_max, self.inner, threads=each, progress=share)
            return nodes[u], nodes[v]

        try:
            bounds = [(number, number + 1) for number in range(len(parts))]
            quiet = ShareOfProgress(self.progress, 0.0, lambda: left)
            return for_bounds(build, bounds, threads=self.threads, progress=quiet)
        finally:
            left = True  # groups that still run after an interrupt end soon
