"""What runs inside Spark's tasks of divide and conquer: rows of one group in, rows out.

A partition holds one group. The pure functions of `builders.divide` do the work, on one thread: the other
cores have groups of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.arrays import Ints
from topicloom.errors import InputError
from topicloom.overlay.builders.divide.phases import (
    build_inner,
    build_outer,
    choose_representatives,
    topics_elsewhere,
)
from topicloom.overlay.builders.divide.plan import Inner
from topicloom.overlay.builders.divide.polish import polish_group
from topicloom.overlay.builders.divide.regions import improve_region
from topicloom.overlay.model.interest import Interest
from topicloom.tables.spark.failures import out_of_memory

Batches = Iterable[pa.RecordBatch]
Task = Callable[[Batches], Iterator[pa.RecordBatch]]

EDGE_SCHEMA = "u int, v int"
EDGE_MARK = -1  # in the column `degree`: this row is an edge
OF_TOPICS = ("everywhere",)  # columns that are about the topic of a row, not about its node
CHOSEN_SCHEMA = "node int, clump int"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The rows of one group; `interest` has numbers of its own, `nodes` and `topics` are the table's."""

    number: int
    nodes: Ints
    topics: Ints
    interest: Interest
    # Of each node: clump and degree; of each topic: everywhere, where the table has them.
    columns: dict[str, NDArray[Any]]
    edges: tuple[Ints, Ints]  # numbers of the table, where it has edges too

    @classmethod
    def of(cls, batches: list[pa.RecordBatch]) -> Group:
        """Make a group from its rows (group, node, topic, ...)."""
        table = pa.Table.from_batches(batches)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        ends = (np.zeros(0, np.int32), np.zeros(0, np.int32))
        if "degree" in columns and (edge := columns["degree"] == EDGE_MARK).any():
            ends = columns["node"][edge], columns["topic"][edge]
            columns = {name: values[~edge] for name, values in columns.items()}
        nodes, first, node = np.unique(columns.pop("node"), return_index=True, return_inverse=True)
        topics, one, topic = np.unique(columns.pop("topic"), return_index=True, return_inverse=True)
        number = int(columns.pop("group")[0])
        interest = Interest.from_codes(_names(nodes), _names(topics), node, topic)
        places = {name: one if name in OF_TOPICS else first for name in columns}
        found = {name: values[places[name]] for name, values in columns.items()}
        return cls(number, nodes, topics, interest, found, ends)


def conquer_task(phase: str, inner: Inner) -> Task:
    """Build the overlay of one group of light nodes."""

    def build(group: Group) -> pa.Table:
        u, v = build_inner(group.interest, inner, threads=1)
        return pa.table({"u": group.nodes[u], "v": group.nodes[v]})

    return _task(phase, build)


def combine_task(phase: str, degree_max: int, inner: Inner) -> Task:
    """Join the clumps and single nodes of one group."""

    def build(group: Group) -> pa.Table:
        clump, degree = group.columns["clump"], group.columns["degree"]
        u, v = build_outer(group.interest, clump, degree, degree_max, inner, threads=1)
        return pa.table({"u": group.nodes[u], "v": group.nodes[v]})

    return _task(phase, build)


def represent_task(phase: str, lambda_: int) -> Task:
    """Choose the representatives of one group; `everywhere` counts who wants the topic of a row."""

    def choose(group: Group) -> pa.Table:
        wanted = topics_elsewhere(group.interest, group.columns["everywhere"])
        chosen = group.nodes[choose_representatives(group.interest, lambda_=lambda_, wanted=wanted)]
        return pa.table({"node": chosen, "clump": np.full(len(chosen), group.number, np.int32)})

    return _task(phase, choose)


def polish_task(phase: str, cap: int, moves: int, seed: int, *, whole: bool = True) -> Task:
    """Polish the overlay of one group: the rows of `EDGE_MARK` are its edges (node, topic: the two ends).

    If it is not `whole` its edges need not connect its topics by themselves.
    """
    polish = polish_group if whole else improve_region

    def improve(group: Group) -> pa.Table:
        one, other = (np.searchsorted(group.nodes, end).astype(np.int32) for end in group.edges)
        u, v = polish(group.interest, (one, other), group.columns["degree"], cap, moves, seed)
        return pa.table({"u": group.nodes[u], "v": group.nodes[v]})

    return _task(phase, improve)


def _task(phase: str, work: Callable[[Group], pa.Table]) -> Task:
    """Do `work` to a group; one that does not fit into memory is named, and what helps."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        some = [batch for batch in batches if batch.num_rows]
        if not some:
            return  # a group without nodes
        try:
            yield from work(Group.of(some)).to_batches()
        except MemoryError:
            number, rows = some[0].column("group")[0].as_py(), sum(batch.num_rows for batch in some)
            raise InputError(out_of_memory(phase, number, f" with {rows:,} subscriptions")) from None

    return run


def _names(numbers: Ints) -> pa.StringArray:
    """Identifiers for an interest that is known by numbers only; nobody looks at them."""
    return pa.array(numbers).cast(pa.string())
