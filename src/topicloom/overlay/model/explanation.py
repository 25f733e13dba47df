"""What `topicloom explain` finds, as values and in words."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from html import escape
from typing import TYPE_CHECKING

from topicloom.base.counts import counted
from topicloom.base.summaries import UNSET, Summary, UnsetType

MOST = 12  # that are listed; counts are of all


def listed(names: Sequence[str]) -> str:
    """Return the first names."""
    return ", ".join(map(repr, names[:MOST])) + (
        f" and {len(names) - MOST:,} more" if len(names) > MOST else ""
    )


def more(values: Sized) -> list[str]:
    """Return the line after a list that was cut off."""
    return [f"  ... and {len(values) - MOST:,} more"] if len(values) > MOST else []


def _any_of(count: int, what: str) -> str:
    return f"one {what}" if count == 1 else f"any of {count:,} {what}s"


class SplitWithout(Summary, frozen=True):
    """A topic that would split: the sizes of its components then, and a node of each."""

    topic: str
    component_sizes: tuple[int, ...]
    nodes: tuple[str, ...]

    def told(self) -> str:
        """Say it in words."""
        parts = [
            f"{size:,} (with {node!r})" for size, node in zip(self.component_sizes, self.nodes, strict=True)
        ]
        return f"{self.topic!r}: components of {', '.join(parts[:MOST])}" + (
            " ..." if len(parts) > MOST else ""
        )


class Detour(Summary, frozen=True):
    """A topic that would stay connected: the hops between the two ends then."""

    topic: str
    hops: int


class Neighbor(Summary, frozen=True):
    """Who a node is linked to, and the topics that the edge is for."""

    node: str
    topics: tuple[str, ...]


class CutNode(Summary, frozen=True):
    """A node without which a topic splits, and the sizes of its components then."""

    node: str
    component_sizes: tuple[int, ...]


class Pictured(Summary, frozen=True, kw_only=True):
    """What every explanation ends with: one topic, drawn. Each declares the fields, as its last."""

    if TYPE_CHECKING:
        drawn_topic: str | None
        drawing: tuple[str, ...]
        picture: str | UnsetType = UNSET

    def told(self) -> list[str]:
        """Return the findings in sentences."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """Return all that people read: the findings, then the drawing."""
        drawn = [f"topic {self.drawn_topic!r}{self.legend()}:", *self.drawing] if self.drawing else []
        return [*self.told(), *drawn]

    def legend(self) -> str:
        """Return what the marks in the drawing mean."""
        return ""

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


class ExplainedEdge(Pictured, frozen=True, kw_only=True):
    """What an edge carries, and what it is needed for."""

    u: str
    v: str
    topics: tuple[str, ...]
    splits: tuple[SplitWithout, ...]
    detours: tuple[Detour, ...]
    drawn_topic: str | None
    drawing: tuple[str, ...]
    picture: str | UnsetType = UNSET

    def told(self) -> list[str]:
        """Say what the edge carries, and what would become of that."""
        carried = f"{self.u!r} and {self.v!r} share {counted(len(self.topics), 'topic')}"
        lines = [f"{carried}, which this edge carries: {listed(self.topics)}" if self.topics else carried]
        if self.splits:
            lines.append(f"without it {counted(len(self.splits), 'topic')} would split:")
            lines += [f"  {one.told()}" for one in self.splits[:MOST]] + more(self.splits)
        else:
            lines.append("without it no topic would split")
        if self.detours:
            far = max(self.detours, key=lambda one: one.hops)
            stay = counted(len(self.detours), "topic")
            lines.append(
                f"{stay} would stay connected, the two up to {counted(far.hops, 'hop')} apart ({far.topic!r})"
            )
        return lines

    def legend(self) -> str:
        """Say how the edge is drawn."""
        return ", the edge drawn double"


class ExplainedNode(Pictured, frozen=True, kw_only=True):
    """Who a node talks to and why, and what its death would split."""

    node: str
    topics: tuple[str, ...]
    neighbors: tuple[Neighbor, ...]
    splits: tuple[SplitWithout, ...]
    drawn_topic: str | None
    drawing: tuple[str, ...]
    picture: str | UnsetType = UNSET

    def told(self) -> list[str]:
        """Say who the node talks to and why, and what its death would split."""
        lines = [
            f"{self.node!r} wants {counted(len(self.topics), 'topic')}: {listed(self.topics)}",
            f"it is linked to {self._linked()}",
        ]
        lines += [
            f"  {one.node!r}: {counted(len(one.topics), 'topic')}: {listed(one.topics)}"
            if one.topics
            else f"  {one.node!r}: no topic"
            for one in self.neighbors[:MOST]
        ] + more(self.neighbors)
        if self.splits:
            lines.append(f"without it {counted(len(self.splits), 'topic')} would split:")
            return lines + [f"  {one.told()}" for one in self.splits[:MOST]] + more(self.splits)
        return [*lines, "without it no topic would split"]

    def _linked(self) -> str:
        if not self.neighbors:
            return "no node"
        each = "each " if len(self.neighbors) > 1 else ""
        return f"{counted(len(self.neighbors), 'node')}, {each}for the topics that both want:"

    def legend(self) -> str:
        """Say how the node is drawn."""
        return ", the node with a star"


class ExplainedTopic(Pictured, frozen=True, kw_only=True):
    """How a topic hangs together."""

    topic: str
    subscribers: int
    edges: int
    component_sizes: tuple[int, ...]
    diameter_topic_max: int | None
    hops_mean: float
    hops_p95: int
    cut_nodes: tuple[CutNode, ...]
    bridges: tuple[tuple[str, str], ...]
    drawn_topic: str | None
    drawing: tuple[str, ...]
    picture: str | UnsetType = UNSET

    def told(self) -> list[str]:
        """Say how the topic hangs together, and on whom that depends."""
        size = f"{counted(self.subscribers, 'subscriber')}, {counted(self.edges, 'edge')} among them"
        if len(self.component_sizes) > 1:
            sizes = ", ".join(f"{one:,}" for one in self.component_sizes[:MOST])
            state = f"split into {len(self.component_sizes):,} components of {sizes}"
        else:
            state = f"connected; at most {counted(self.diameter_topic_max or 0, 'hop')}, mean "
            state += f"{self.hops_mean:.1f}, 95% up to {self.hops_p95:,}"
        lines = [f"topic {self.topic!r}: {size}; {state}"]
        if self.cut_nodes:
            lines.append(f"it would split without {_any_of(len(self.cut_nodes), 'node')}:")
            lines += [
                f"  {one.node!r}: components of {', '.join(f'{size:,}' for size in one.component_sizes)}"
                for one in self.cut_nodes[:MOST]
            ] + more(self.cut_nodes)
        else:
            lines.append("no single node splits it")
        edges = f"it would split without {_any_of(len(self.bridges), 'edge')}"
        return [*lines, edges if self.bridges else "no single edge splits it"]

    def legend(self) -> str:
        """Say how such nodes are drawn."""
        return ", nodes that it would split without with a star" if self.cut_nodes else ""


Explanation = ExplainedEdge | ExplainedNode | ExplainedTopic
