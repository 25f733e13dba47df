"""What the judge says of an overlay: whether every topic is connected, and witnesses where one is not."""

from __future__ import annotations

from dataclasses import dataclass

from topicloom.base.summaries import Summary


class Witness(Summary, frozen=True):
    """Proof that one topic is partitioned.

    `component_sizes` are all its components' sizes, largest first; `nodes` holds one node (the one of the
    smallest identifier) of the first and of the second of them.
    """

    topic: str
    component_sizes: tuple[int, ...]
    nodes: tuple[str, str]


class Proof(Summary, frozen=True):
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one proof.

    Every row of the edge table is counted exactly once: `unknown_nodes` are rows that name a node outside
    the interest, of the rest `self_loops` join a node to itself, of the rest `duplicate_edges` repeat an
    undirected pair, and `edges` remain, on which alone the proof stands. `unknown_names` are the first
    unknown identifiers in byte order. `witnesses` are the worst topics, most components first, then by
    topic. `path` is the way the proof took: `memory`, `broadcast` or `bucketed`.
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
    path: str = "memory"

    @property
    def topic_connected(self) -> bool:
        return self.topics_partitioned == 0

    @property
    def clean(self) -> bool:
        """True when no row of the edge table had to be left out."""
        return self.unknown_nodes == self.self_loops == self.duplicate_edges == 0

    def summary(self) -> Proof:
        """What there is to say of it."""
        return Proof(**{name: getattr(self, name) for name in Proof.__struct_fields__})
