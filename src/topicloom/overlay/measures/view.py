"""What every measure is given: an interest, an overlay on its nodes, and the overlay's adjacency made once.

Array flags are settled here: a kernel compiles once for read-only interest and writable adjacency.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, sealed
from topicloom.base.kernels.parallel import default_threads, for_slices
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """An interest and an overlay side by side, ready for kernels; make it with `view_of`."""

    interest: Interest
    overlay: Overlay
    node_ptr: Longs
    node_topics: Ints
    topic_ptr: Longs
    topic_nodes: Ints
    pointers: Longs
    neighbors: Ints
    threads: int
    progress: Progress


def view_of(
    interest: Interest, overlay: Overlay, *, threads: int | None = None, progress: Progress = SILENT
) -> View:
    """Check that both speak of the same nodes and lay out what the kernels need."""
    if not interest.node_ids.equals(overlay.node_ids):
        raise InputError(
            f"the overlay's {overlay.n_nodes} nodes are not the interest's {interest.n_nodes} nodes: "
            "measure an overlay with the interest it was built from"
        )
    pointers, neighbors = overlay.adjacency()
    return View(
        interest=interest,
        overlay=overlay,
        node_ptr=sealed(interest.node_ptr),
        node_topics=sealed(interest.node_topics),
        topic_ptr=sealed(interest.topic_ptr),
        topic_nodes=sealed(interest.topic_nodes),
        pointers=pointers,
        neighbors=neighbors,
        threads=default_threads() if threads is None else threads,
        progress=progress,
    )


class Weighed:
    """A progress for items of unequal weight: turns finished items into the work they stood for."""

    def __init__(self, progress: Progress, weights: Floats) -> None:
        self._progress = progress
        self._done = np.concatenate(([0.0], np.cumsum(weights)))
        self._at = 0

    def now(self) -> float:
        return self._progress.now()

    def phase(self, name: str, total: float | None = None) -> None:
        self._progress.phase(name, total)

    def advance(self, amount: float = 1) -> None:
        after = min(self._at + int(amount), len(self._done) - 1)
        self._progress.advance(float(self._done[after] - self._done[self._at]))
        self._at = after

    def should_stop(self) -> bool:
        return self._progress.should_stop()


MAX_SLICES = 512
"""More slices than this would spend their time on scratch arrays of one entry per node."""


def for_topics(
    view: View,
    name: str,
    work: Callable[[Ints], Any],
    weights: Floats,
    topics: Longs | None = None,
) -> None:
    """Run `work` over all (or the given) topics, heaviest first, in parallel; `progress` moves by weight."""
    order = np.argsort(-weights, kind="stable").astype(np.int32)
    if topics is not None:
        order = order[np.isin(order, topics)]
    view.progress.phase(name, float(weights[order].sum()))
    for_slices(
        lambda start, stop: work(order[start:stop]),
        len(order),
        slice_size=max(1, -(-len(order) // MAX_SLICES)),
        threads=view.threads,
        progress=Weighed(view.progress, weights[order]),
    )
