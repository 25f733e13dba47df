"""What the judge says of an overlay: whether every topic is connected, and witnesses where one is not.

All witnesses go into one file: JSON lines, one JSON array, or Parquet, by extension.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.addresses import refuse_address
from topicloom.base.atomic_write import check_writable, replacing
from topicloom.base.counts import counted
from topicloom.base.notebook import html_rows, html_table
from topicloom.base.summaries import UNSET, Summary, UnsetType
from topicloom.errors import UsageError

WITNESS_FILES = (".jsonl", ".json", ".parquet")
_WITNESSES = pa.schema(
    [("topic", pa.string()), ("component_sizes", pa.list_(pa.int64())), ("nodes", pa.list_(pa.string()))]
)


class Witness(Summary, frozen=True):
    """Proof that one topic is split.

    `component_sizes` are all its components' sizes, largest first; `nodes` holds one node (the one of the
    smallest identifier) of the first and of the second of them.
    """

    topic: str
    component_sizes: tuple[int, ...]
    nodes: tuple[str, str]


class Fragile(Summary, frozen=True):
    """Proof that a topic does not survive: when the `dead` die, the two `nodes` are apart in it."""

    topic: str
    dead: tuple[str, ...]
    nodes: tuple[str, str]


class Survival(Summary, frozen=True):
    """Whether every topic stays connected when any `survive` nodes die; `fragile`: some that do not."""

    survive: int
    survives: bool
    topics_fragile: int
    fragile: tuple[Fragile, ...] = ()


class VerdictSummary(Summary, frozen=True):
    """What `topicloom verify --json` prints of a verdict."""

    topic_connected: bool
    topics: int
    topics_partitioned: int
    topic_components: int
    edges: int
    unknown_nodes: int
    self_loops: int
    duplicate_edges: int
    witnesses: tuple[Witness, ...]
    survival: Survival | UnsetType = UNSET


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The outcome of one proof.

    Every row of the edge table is counted exactly once: `unknown_nodes` are rows that name a node outside
    the interest, of the rest `self_loops` join a node to itself, of the rest `duplicate_edges` repeat an
    undirected pair, and `edges` remain, on which alone the proof stands. `unknown_names` are the first
    unknown identifiers in byte order. `witnesses` are the worst topics, most components first, then by
    topic. `subscriptions` are the distinct rows of the interest that was judged. `path` is how it was proved:
    `memory`, `driver` or `bucketed`. `survival` is there where it was asked about.
    """

    topics: int
    topics_partitioned: int
    topic_components: int
    edges: int
    unknown_nodes: int = 0
    self_loops: int = 0
    duplicate_edges: int = 0
    unknown_names: tuple[str, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    subscriptions: int = 0
    path: str = "memory"
    survival: Survival | UnsetType = UNSET

    @property
    def topic_connected(self) -> bool:
        return self.topics_partitioned == 0

    @property
    def clean(self) -> bool:
        """True when no row of the edge table had to be left out."""
        return self.unknown_nodes == self.self_loops == self.duplicate_edges == 0

    @property
    def holds(self) -> bool:
        """True when every topic is connected, and survives the deaths that were asked about."""
        return self.topic_connected and (self.survival is UNSET or self.survival.survives)

    def __repr__(self) -> str:
        if self.topic_connected:
            lasting = "" if self.survival is UNSET else f"; {survival_told(self.survival)}"
            edges = counted(self.edges, "edge")
            return f"Verdict(proved: {counted(self.topics, 'topic')} connected by {edges}{lasting})"
        first = f", {self.witnesses[0].topic!r} for one" if self.witnesses else ""
        split = f"{self.topics_partitioned:,} of {counted(self.topics, 'topic')} split{first}"
        return f"Verdict(NOT topic-connected: {split})"

    def _repr_html_(self) -> str:
        summary = self.summary()
        figures = {name: getattr(summary, name) for name in _FIGURES}
        table = html_table(
            "Topic-connected: proved" if self.topic_connected else "NOT topic-connected", figures
        )
        rows = [(one.topic, one.component_sizes, one.nodes) for one in self.witnesses]
        headings = ("split topic", "sizes of its components", "nodes of two of them")
        return table + (html_rows("Witnesses", headings, rows) if rows else "")

    def summary(self) -> VerdictSummary:
        """Return what there is to say of it."""
        return VerdictSummary(**{name: getattr(self, name) for name in VerdictSummary.__struct_fields__})


_FIGURES = [name for name in VerdictSummary.__struct_fields__ if name not in ("witnesses", "survival")]


def survival_told(survival: Survival) -> str:
    """Say whether every topic survives, with a witness where one does not."""
    whose = "any node" if survival.survive == 1 else f"any {survival.survive} nodes"
    if survival.survives:
        return f"each topic survives the death of {whose}"
    first = survival.fragile[0]
    those = " and ".join(map(repr, first.dead))
    when = f"when {those} {'die' if len(first.dead) > 1 else 'dies'}" if first.dead else "as it is"
    return (
        f"{counted(survival.topics_fragile, 'topic does', 'topics do')} not survive the death of {whose}: in "
        f"{first.topic!r} {first.nodes[0]!r} and {first.nodes[1]!r} are apart {when}"
    )


def check_witness_file(path: str | Path) -> None:
    """Refuse what `write_witnesses` cannot write or must not replace, before any work is done."""
    refuse_address(path, f"`all={path}`")
    suffix = Path(path).suffix.lower()
    if suffix not in WITNESS_FILES:
        raise UsageError(f"`all={str(path)!r}` has extension {suffix!r}; use {', '.join(WITNESS_FILES)}")
    if Path(path).is_dir():
        raise UsageError(f"`all={str(path)!r}` is a folder; name a file")
    check_writable(Path(path), path)


def witness_rows(witnesses: Sequence[Witness]) -> pa.Table:
    """Return witnesses as the table that `write_witnesses` takes."""
    names = _WITNESSES.names
    return pa.table({name: [getattr(one, name) for one in witnesses] for name in names}, schema=_WITNESSES)


def write_witnesses(witnesses: pa.Table, path: Path) -> None:
    """Write the columns topic, component_sizes, nodes; whole or not at all."""
    check_witness_file(path)
    with replacing(path) as temporary:
        if path.suffix.lower() == ".parquet":
            pq.write_table(witnesses.cast(_WITNESSES).combine_chunks(), temporary)
        else:
            _write_json(witnesses, temporary, lines=path.suffix.lower() == ".jsonl")


def _write_json(witnesses: pa.Table, path: Path, *, lines: bool) -> None:
    separator = "" if lines else ","
    with path.open("w", encoding="utf-8", newline="\n") as sink:
        sink.write("" if lines else "[\n")
        left = len(witnesses)
        for batch in witnesses.to_batches(max_chunksize=1024):
            for row in batch.to_pylist():
                left -= 1
                text = json.dumps(row, ensure_ascii=False)
                sink.write(text + (separator if left else "") + "\n")
        sink.write("" if lines else "]\n")
