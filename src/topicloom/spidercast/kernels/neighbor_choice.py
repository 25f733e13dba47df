"""The next neighbor of a simulated node: the same rules as `protocol/membership.py`, over shared bit tables.

`bits[w, v]` holds topics 64w..64w+63 of node v. A node that is away has no bits and is not listed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import kernel
from topicloom.base.kernels.random import STEP, mix


@kernel
def _word_masks(wanted: Any, n_words: int) -> Any:
    masks = np.zeros(n_words, dtype=np.uint64)
    for topic in wanted:
        masks[topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)
    return masks


@kernel
def _pick(scores: Any, n: int, least: int, ranked: bool, draw: float) -> int:
    """Return where a score >= `least` is (the highest, if `ranked`), ties by `draw` in [0, 1); -1: none.

    Plain loops without a branch, one after the other: each of them runs on several nodes at a time.
    """
    best = least
    if ranked:
        for i in range(n):
            best = max(best, scores[i])
    number = 0
    for i in range(n):
        number += scores[i] >= best
    if number == 0:
        return -1
    left = int(draw * number)
    for i in range(n):
        if scores[i] >= best:
            if left == 0:
                return i
            left -= 1
    return -1


@kernel
def choose_of_all(
    bits: Any, listed: Any, wanted: Any, banned: Any, least: int, ranked: bool, draw: float, scores: Any
) -> int:
    """Return one of all listed nodes outside `banned`, or -1."""
    n_words, n = bits.shape
    masks = _word_masks(wanted, n_words)
    scores[:n] = 0
    for w in range(n_words):
        mask = masks[w]
        if mask:
            row = bits[w]
            for v in range(n):
                scores[v] += np.int32(ones(row[v] & mask))
    if least == 0:  # those that are not listed have no topics: they cover nothing
        for v in range(n):
            if not listed[v]:
                scores[v] = -1
    for v in banned:
        scores[v] = -1
    return _pick(scores, n, least, ranked, draw)


@kernel
def choose_of_view(
    view: Any,
    bits: Any,
    listed: Any,
    wanted: Any,
    banned: Any,
    least: int,
    ranked: bool,
    draw: float,
    scores: Any,
) -> int:
    """Return one of the listed nodes in `view` outside `banned`, or -1."""
    n_words, n = len(bits), len(view)
    masks = _word_masks(wanted, n_words)
    scores[:n] = 0
    for w in range(n_words):
        mask = masks[w]
        if mask:
            row = bits[w]
            for i in range(n):
                scores[i] += np.int32(ones(row[view[i]] & mask))
    if least == 0:
        for i in range(n):
            if not listed[view[i]]:
                scores[i] = -1
    for v in banned:
        for i in range(n):
            scores[i] = -1 if view[i] == v else scores[i]
    found = _pick(scores, n, least, ranked, draw)
    return view[found] if found >= 0 else -1


@kernel
def oldest_of_view(view: Any, bits: Any, lives: Any, topics: Any) -> Any:
    """Return, for each topic, the node in `view` with it of the smallest (life, number), or -1."""
    found = np.full(len(topics), -1, dtype=np.int64)
    for at in range(len(topics)):
        row, shift = bits[topics[at] >> 6], np.uint64(topics[at] & 63)
        best = -1
        for node in view:
            if (row[node] >> shift) & np.uint64(1) and (
                best < 0 or lives[node] < lives[best] or (lives[node] == lives[best] and node < best)
            ):
                best = node
        found[at] = best
    return found


@kernel
def draw_views(views: Any, first: int, n_nodes: int, key: Any, seen: Any) -> None:
    """Fill row i with distinct random nodes other than node first + i; `seen` is scratch, zero at first."""
    rows, size = views.shape
    counter = key
    for i in range(rows):
        stamp = np.int32(i + 1)
        seen[first + i] = stamp
        taken = 0
        while taken < size:
            counter += STEP
            node = np.int64(mix(counter) % np.uint64(n_nodes))
            if seen[node] != stamp:
                seen[node] = stamp
                views[i, taken] = node
                taken += 1
