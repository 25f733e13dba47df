"""Synthetic interest without Spark: a `Workload` says what to draw, in memory or into a text file.

Slices of nodes are drawn independently (`draw_slice`), so the Spark version gives the very same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.atomic_write import replacing
from topicloom.base.ids import numbered_ids
from topicloom.base.kernels.parallel import default_threads, for_slices
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.seeds import stream_key
from topicloom.errors import UsageError
from topicloom.overlay.kernels.draw import draw_topics, log_survival
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.laws import LAWS, PRESETS, Popularity, Sizes, allowed_laws

SLICE_ROWS = 1_000_000  # about how many subscriptions are drawn at once; the rows do not depend on it
SEPARATORS = {".csv": ",", ".tsv": "\t"}
MOST = 2**31 - 1  # the largest number of nodes or topics: numbers inside are 32 bits wide


@dataclass(frozen=True, slots=True)
class Workload:
    """A synthetic interest, fully described: the same fields always give the same rows.

    >>> workload = workload_from_options(3, topics=4, subscriptions="2", popularity="uniform", seed=1)
    >>> generate_interest(workload).subscription_sizes().tolist()
    [2, 2, 2]
    """

    nodes: int
    topics: int
    sizes: Sizes
    popularity: Popularity
    seed: int = 0

    def __post_init__(self) -> None:
        for name, count in (("nodes", self.nodes), ("topics", self.topics)):
            if not 1 <= count <= MOST:
                raise UsageError(f"`{name}={count}` is out of range; use a number from 1 to {MOST}")
        self.sizes.check_topics(self.topics)
        self.popularity.check_topics(self.topics)

    @property
    def slice_nodes(self) -> int:
        """Return the nodes per slice, so that a slice has about `SLICE_ROWS` rows."""
        return max(1, min(self.nodes, SLICE_ROWS // self.sizes.high))


def workload_from_options(
    nodes: int,
    topics: int | None = None,
    subscriptions: str | int | None = None,
    popularity: str = "uniform",
    seed: int = 0,
) -> Workload:
    """Make a workload of what a user wrote; a preset fills in topics and sizes that were left out."""
    preset = PRESETS.get(popularity)
    if preset is not None:
        topics = preset.topics if topics is None else topics
        sizes = preset.sizes if subscriptions is None else Sizes.parse(subscriptions)
        return Workload(nodes, topics, sizes, preset.popularity, seed)
    if popularity.partition(":")[0] not in LAWS:
        raise UsageError(
            f"`popularity={popularity!r}` is neither a law nor a preset; use {allowed_laws()} or a preset: "
            f"{', '.join(PRESETS)}"
        )
    law = Popularity.parse(popularity)
    if topics is None or subscriptions is None:
        missing = "topics" if topics is None else "subscriptions"
        raise UsageError(f"`{missing}` is missing; give it, or a preset such as `popularity=rss`")
    return Workload(nodes, topics, Sizes.parse(subscriptions), law, seed)


@dataclass(frozen=True, slots=True, eq=False)
class Drawer:
    """What every slice of one workload needs, made once: the survival table and the stream keys."""

    workload: Workload
    survival: Floats
    size_key: int
    topic_key: int

    @classmethod
    def of(cls, workload: Workload) -> Drawer:
        return cls(
            workload,
            log_survival(workload.popularity.log_weights(workload.topics)),
            stream_key(workload.seed, "workload", "sizes"),
            stream_key(workload.seed, "workload", "topics"),
        )

    def draw_slice(self, start: int, stop: int) -> tuple[Longs, Ints]:
        """Pointers and ascending topic numbers (from 0) of the nodes start..stop-1 (from 0)."""
        sizes = self.workload.sizes.draw(self.size_key, start, stop)
        pointers = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes, out=pointers[1:])
        return pointers, draw_topics(self.topic_key, start, pointers, self.survival)

    def n_subscriptions(self) -> int:
        """Return how many rows the whole workload has; only the sizes are drawn for it."""
        nodes, sizes = self.workload.nodes, self.workload.sizes
        if sizes.low == sizes.high:
            return nodes * sizes.low
        cuts = pairwise([*range(0, nodes, SLICE_ROWS), nodes])
        return sum(int(sizes.draw(self.size_key, *cut).sum()) for cut in cuts)

    def node_ids(self, start: int, stop: int) -> pa.StringArray:
        """Return the identifiers of the nodes start..stop-1, as wide as the whole workload needs."""
        return numbered_ids("n", stop - start, first=start + 1, of=self.workload.nodes)

    def topic_ids(self) -> pa.StringArray:
        return numbered_ids("t", self.workload.topics)

    def table(self, start: int, stop: int) -> pa.Table:
        """Return the rows (node, topic) of the nodes start..stop-1, sorted."""
        pointers, topics = self.draw_slice(start, stop)
        owners = np.repeat(np.arange(stop - start, dtype=np.int32), np.diff(pointers))
        return pa.table(
            {
                "node": self.node_ids(start, stop).take(pa.array(owners)),
                "topic": self.topic_ids().take(pa.array(topics)),
            }
        )


def generate_interest(
    workload: Workload, *, threads: int | None = None, progress: Progress = SILENT
) -> Interest:
    """Draw the workload in memory; topics that nobody drew do not appear, as in a written table."""
    progress.phase("generate", workload.nodes)
    drawer = Drawer.of(workload)
    slices: list[tuple[Longs, Ints]] = for_slices(
        drawer.draw_slice,
        workload.nodes,
        slice_size=workload.slice_nodes,
        threads=default_threads() if threads is None else threads,
        progress=progress,
    )
    sizes = np.concatenate([np.diff(pointers) for pointers, _ in slices])
    topics = np.concatenate([drawn for _, drawn in slices])
    owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    drawn = np.flatnonzero(np.bincount(topics, minlength=workload.topics))
    renumber = np.zeros(workload.topics, dtype=np.int32)
    renumber[drawn] = np.arange(len(drawn))
    topic_ids = drawer.topic_ids().take(pa.array(drawn))
    return Interest.from_codes(drawer.node_ids(0, workload.nodes), topic_ids, owners, renumber[topics])


def write_text(workload: Workload, out: Path, *, progress: Progress = SILENT) -> None:
    """Write the rows with the header `node`, `topic`, slice by slice; the extension says which separator."""
    separator = SEPARATORS[out.suffix.lower()]
    # Generated identifiers are letters and digits: nothing ever needs a quote.
    options = csv.WriteOptions(include_header=False, delimiter=separator, quoting_style="none")
    drawer = Drawer.of(workload)
    progress.phase("generate", workload.nodes)
    with replacing(out) as temporary, temporary.open("wb") as sink:
        sink.write(f"node{separator}topic\n".encode())
        for start in range(0, workload.nodes, workload.slice_nodes):
            check_stop(progress)
            stop = min(start + workload.slice_nodes, workload.nodes)
            csv.write_csv(drawer.table(start, stop), sink, options)
            progress.advance(stop - start)
