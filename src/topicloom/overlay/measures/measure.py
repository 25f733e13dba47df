"""What a measure is, and what every measure is given: an overlay beside the interest it serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.kernels.parallel import default_threads, for_slices
from topicloom.base.progress import SILENT, Progress, QuietProgress
from topicloom.base.registry import Entry
from topicloom.base.summaries import Figures
from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

MAX_SLICES = 512  # more slices would spend their time on scratch arrays of one entry per node


@dataclass(frozen=True, slots=True)
class Figure:
    """One value of a measure: its key in JSON and, where the printed table shows it, its label and form.

    `form` is a format specification for a number, or `percentiles`, `bounds` or `yes/no`. `unit` stands
    behind the label; it may be the key of the figure that says it.
    """

    key: str
    label: str = ""
    form: str = ","
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Entry):
    """A function that gives the listed figures; the command line shows them in this order."""

    figures: tuple[Figure, ...]
    function: Callable[[OverlayView], Figures]


@dataclass(frozen=True, slots=True, eq=False)
class OverlayView:
    """An interest and an overlay of its nodes, laid out for kernels; make it with `view_of`.

    Array flags are settled here: a kernel compiles once, for read-only interest and writable adjacency.
    """

    interest: Interest
    overlay: Overlay
    node_lists: tuple[Longs, Ints]  # pointers and topics of nodes
    topic_lists: tuple[Longs, Ints]  # pointers and nodes of topics
    adjacency: tuple[Longs, Ints]  # pointers and neighbors of nodes
    threads: int
    progress: Progress


def view_of(
    interest: Interest, overlay: Overlay, *, threads: int | None = None, progress: Progress = SILENT
) -> OverlayView:
    """Return the view of an overlay; one whose nodes are not those of the interest is refused."""
    if not interest.node_ids.equals(overlay.node_ids):
        raise InputError(
            f"the overlay's {overlay.n_nodes} nodes are not the interest's {interest.n_nodes} nodes: "
            "measure an overlay with the interest it was built from"
        )
    lists = interest.sealed_lists()
    threads = default_threads() if threads is None else threads
    return OverlayView(interest, overlay, lists[:2], lists[2:], overlay.adjacency(), threads, progress)


class WeighedProgress(QuietProgress):
    """A progress for items of unequal weight: turns finished items into the work they stood for."""

    def __init__(self, progress: Progress, weights: Floats) -> None:
        super().__init__(progress)
        self._done = np.concatenate(([0.0], np.cumsum(weights)))
        self._at = 0

    def advance(self, amount: float = 1) -> None:
        after = min(self._at + int(amount), len(self._done) - 1)
        self._progress.advance(float(self._done[after] - self._done[self._at]))
        self._at = after


def for_topics(
    view: OverlayView, name: str, work: Callable[[Ints], Any], weights: Floats, topics: Longs | None = None
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
        progress=WeighedProgress(view.progress, weights[order]),
    )
