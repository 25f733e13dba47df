"""A trace file: who comes, goes, publishes, is cut off, paused or slow at which time."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.simulator.node_changes import BARE, VALUED, ChangeKind, NodeChange, own_topics
from topicloom.tables.small_csv import Row, read_rows

COLUMNS = ("time", "node", "change")


def read_trace(path: str | Path, interest: Interest) -> list[NodeChange]:
    """Return all changes of a trace in order of time, first a JOIN at time 0 of each node on from the start.

    The file is CSV with the header `time,node,change` and, as needed, `topics` (separated by `|`; a field
    that is itself the name of a topic is that topic) and `value` (of `slow`, `bandwidth`, `setup` and
    `fifo`). A node whose first row is `join` is off until then; all others are on from time 0. A join without
    topics takes those of the node in the interest. Rows must be in order of time; impossible changes are
    refused.
    """
    reader = _TraceReader(interest)
    changes = [reader.change(row) for row in read_rows(path, COLUMNS, ("topics", "value"))]
    early = [node for node in range(interest.n_nodes) if node not in reader.late]
    return [NodeChange(0.0, node, ChangeKind.JOIN, own_topics(interest, node)) for node in early] + changes


class _TraceReader:
    """Follows who is on and wants what, row by row."""

    def __init__(self, interest: Interest) -> None:
        self._interest = interest
        self._nodes = {name: node for node, name in enumerate(interest.node_ids.to_pylist())}
        self._topics = {name: topic for topic, name in enumerate(interest.topic_ids.to_pylist())}
        self._topic_names = list(self._topics)
        self._time = 0.0
        self._wants: dict[int, set[int] | None] = {}  # nodes named so far; None: off
        self.late: set[int] = set()

    def change(self, row: Row) -> NodeChange:
        time = row.seconds("time")
        if time < self._time:
            raise row.wrong(f"time {time:g} comes after {self._time:g} in the row above; sort rows by time")
        self._time = time
        node = self._nodes.get(row["node"])
        if node is None:
            raise row.wrong(f"{row['node']!r} is not a node of the interest")
        try:
            kind = ChangeKind(row["change"])
        except ValueError:
            words = ", ".join(kind.value for kind in ChangeKind)
            raise row.wrong(f"change is {row['change']!r}, but it must be one of {words}") from None
        topics = self._named_topics(row)
        if kind is ChangeKind.JOIN:
            topics = self._join(row, node, topics)
        else:
            self._while_on(row, node, kind, topics)
        named = topics if kind not in BARE and kind not in VALUED else None
        return NodeChange(time, node, kind, named, self._value(row, kind))

    def _value(self, row: Row, kind: ChangeKind) -> float:
        """Return the value of a change that has one."""
        if kind not in VALUED:
            if row["value"]:
                raise row.wrong(f"{kind.value} takes no value")
            return 0.0
        try:
            value = float(row["value"])
        except ValueError:
            value = -1.0
        least, most, need = VALUED[kind]
        if not isfinite(value) or not least <= value <= most:
            raise row.wrong(f"{kind.value} needs {need} in the column 'value', not {row['value']!r}")
        return value

    def _named_topics(self, row: Row) -> tuple[int, ...]:
        field = row["topics"]
        if not field:
            return ()
        names = [field] if field in self._topics else field.split("|")
        wrong = next((name for name in names if name not in self._topics), None)
        if wrong is not None:
            raise row.wrong(f"{wrong!r} is not a topic of the interest (several are separated by '|')")
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise row.wrong(f"topic {twice!r} is named twice")
        return tuple(self._topics[name] for name in names)

    def _join(self, row: Row, node: int, topics: tuple[int, ...]) -> tuple[int, ...]:
        if node not in self._wants:
            self.late.add(node)
        elif self._wants[node] is not None:
            raise row.wrong(f"node {row['node']!r} cannot join, it is on already")
        topics = topics or own_topics(self._interest, node)
        self._wants[node] = set(topics)
        return topics

    def _while_on(self, row: Row, node: int, kind: ChangeKind, topics: tuple[int, ...]) -> None:
        wants = self._wants.setdefault(node, set(own_topics(self._interest, node)))
        if wants is None:
            raise row.wrong(f"node {row['node']!r} cannot {kind.value}, it is off since a row above")
        if kind in BARE or kind in VALUED:
            if topics:
                raise row.wrong(f"{kind.value} takes no topics")
            if kind in (ChangeKind.LEAVE, ChangeKind.CRASH):
                self._wants[node] = None
            return
        if not topics or (kind is ChangeKind.PUBLISH and len(topics) != 1):
            need = "exactly one topic" if kind is ChangeKind.PUBLISH else "at least one topic"
            raise row.wrong(f"{kind.value} needs {need} in the column 'topics'")
        for topic in topics:
            if (topic in wants) == (kind is ChangeKind.SUBSCRIBE):
                wanted = "already wants" if topic in wants else "does not want"
                name = self._topic_names[topic]
                raise row.wrong(f"node {row['node']!r} cannot {kind.value}: it {wanted} topic {name!r}")
        if kind is ChangeKind.SUBSCRIBE:
            wants.update(topics)
        elif kind is ChangeKind.UNSUBSCRIBE:
            wants.difference_update(topics)
