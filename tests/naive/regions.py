"""The improvement by regions in one process, region after region, from the rules alone."""

from __future__ import annotations

import numpy as np

from topicloom.overlay.builders.divide.groups import hash_ranks, split_bulk
from topicloom.overlay.builders.divide.polish import polish_cap
from topicloom.overlay.builders.divide.regions import improve_region
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def dealt_regions(interest: Interest, count: int, seed: int) -> np.ndarray:
    """The region of every node: light nodes as dcbr-m deals them, and bulk nodes in the same way."""
    split, ranks = split_bulk(interest), hash_ranks(interest.node_ids, seed)
    found = np.zeros(interest.n_nodes, np.int32)
    for nodes in (split.light, split.bulk):
        order = np.argsort(np.argsort(ranks[nodes])).astype(np.int64)
        found[nodes] = order * count // max(len(nodes), 1)
    return found


def improve_regions(
    interest: Interest, overlay: Overlay, region: np.ndarray, *, rounds: int, seed: int
) -> list[tuple[int, int]]:
    """The edges afterwards, in order."""
    degree = overlay.degrees()
    sizes, counts = np.unique(degree[degree > 0], return_counts=True)
    cap = min(polish_cap(sizes, counts, interest.n_nodes), int(degree.max(initial=0)))
    apart = region[overlay.u] != region[overlay.v]
    found = list(zip(overlay.u[apart].tolist(), overlay.v[apart].tolist(), strict=True))
    for number in range(int(region.max(initial=0)) + 1):
        nodes = np.flatnonzero(region == number).astype(np.int32)
        inner = (region[overlay.u] == number) & (region[overlay.v] == number)
        ends = [np.searchsorted(nodes, end[inner]).astype(np.int32) for end in (overlay.u, overlay.v)]
        u, v = improve_region(interest.restrict(nodes), (ends[0], ends[1]), degree[nodes], cap, rounds, seed)
        found += zip(nodes[u].tolist(), nodes[v].tolist(), strict=True)
    return sorted(found)
