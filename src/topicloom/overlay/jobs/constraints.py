"""Constraints from files: tables read like all others, names turned into node numbers.

Unlike the rows of an interest, no row may be refused quietly here: a firewall rule that got lost would be a
hole. So a bad row, an unknown node or a missing header is an error that names it. Only an existing overlay
(`start`) may hold what is no longer there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Floats, Ints
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.jobs.interest_table import LoadedInterest
from topicloom.overlay.measures.connectivity import node_codes, sound_edges
from topicloom.overlay.model.constraints import NO_CAP, Constraints, NodePairs, priced_pairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.encodings import UTF8
from topicloom.tables.first_look import check_there
from topicloom.tables.local.read import LocalReader
from topicloom.tables.reader import read_all, refuse_rows
from topicloom.tables.source import TableSource, are_small, edges_source, limits_source
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice

ALL_NODES = "*"  # in a table of caps the name of all nodes that are not listed, unless a node is called so


@dataclass(frozen=True, slots=True)
class ConstraintFiles:
    """Where the constraints lie, under the names of the command line's options; None: not given."""

    caps: str | None = None
    forbid: str | None = None
    require: str | None = None
    costs: str | None = None
    start: str | None = None
    encoding: str = UTF8

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds that are given."""
        return tuple(name for name in ("caps", "forbid", "require", "costs", "start") if getattr(self, name))

    def check_there(self) -> None:
        """Refuse a file that is bound to fail before any work begins; a small one is read to the end."""
        for kind in self.kinds():
            source = self.source(kind)
            check_there(source)
            if are_small(source.path):
                table = read_all(LocalReader(), source, empty=True)
                if kind == "caps":
                    _check_whole(table, source.path)

    def source(self, kind: str) -> TableSource:
        """Return the table of that kind."""
        path = getattr(self, kind)
        if kind == "start":
            return edges_source(path, encoding=self.encoding)
        return limits_source(path, kind, self.encoding)


class Limits(NamedTuple):
    """What builders take: the constraints, and the overlay that exists already."""

    constraints: Constraints
    start: Overlay | None


def load_constraints(
    files: ConstraintFiles,
    loaded: LoadedInterest,
    *,
    spark: SparkChoice,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> Limits:
    """Read the files that are given; what of `start` is left out goes to `notice`."""
    interest = loaded.interest

    def table(kind: str) -> pa.Table:
        source = files.source(kind)
        check_there(source)
        reader = spark.reader(source, notice=notice, progress=progress)
        return read_all(reader, source, empty=True, progress=progress)

    def pairs(kind: str) -> NodePairs:
        if not getattr(files, kind):
            return NodePairs()
        return NodePairs.of(*_ends(table(kind), interest, getattr(files, kind)), interest.n_nodes)

    forbidden, required = pairs("forbid"), pairs("require")
    priced, costs = (
        _costs(table("costs"), interest, files.costs) if files.costs else (NodePairs(), np.zeros(0))
    )
    caps = _caps(table("caps"), interest, files.caps) if files.caps else None
    start = _start(table("start"), interest, files.start, forbidden, notice) if files.start else None
    return Limits(Constraints(caps, forbidden, required, priced, costs), start)


def _ends(table: pa.Table, interest: Interest, path: str) -> tuple[Ints, Ints]:
    """Return the numbers of columns u and v; a name that is no node and a pair of one node are refused."""
    u, v = (node_codes(table.column(name), interest.node_ids) for name in ("u", "v"))
    for name, codes in (("u", u), ("v", v)):
        refuse_rows(path, table, codes < 0, partial(_no_node, table, name))
    refuse_rows(path, table, u == v, "a node is paired with itself")
    return u, v


def _no_node(table: pa.Table, column: str, row: int) -> str:
    return f"{table.column(column)[row].as_py()!r} is not a node of the interest"


def _check_whole(table: pa.Table, path: str) -> pa.ChunkedArray:
    """Return the column of caps; refuse a word that is no whole number."""
    words = table.column("cap")
    whole = pc.match_substring_regex(words, pattern=r"^\+?[0-9]+$").to_numpy()
    refuse_rows(path, table, ~whole, "the cap is not a whole number of at least 0")
    return words


def _caps(table: pa.Table, interest: Interest, path: str) -> Ints:
    words = _check_whole(table, path)
    values = np.array([min(int(word), NO_CAP) for word in words.to_pylist()], np.int32)
    nodes = node_codes(table.column("node"), interest.node_ids)
    default = (nodes < 0) & pc.equal(table.column("node"), ALL_NODES).to_numpy()
    refuse_rows(path, table, (nodes < 0) & ~default, partial(_no_node, table, "node"))
    places = np.where(default, interest.n_nodes, nodes)
    given = np.full(interest.n_nodes + 1, -1, np.int32)
    given[places] = values
    twice = np.isin(places, places[given[places] != values])
    refuse_rows(path, table, twice, "the cap differs from another row of the same node")
    others = given[-1] if given[-1] >= 0 else NO_CAP
    return np.where(given[:-1] >= 0, given[:-1], others).astype(np.int32)


def _costs(table: pa.Table, interest: Interest, path: str) -> tuple[NodePairs, Floats]:
    u, v = _ends(table, interest, path)
    costs: Any = table.column("cost").to_numpy()
    refuse_rows(path, table, np.isnan(costs), "the cost is missing")
    _, pair = np.unique(np.stack((np.minimum(u, v), np.maximum(u, v))), axis=1, return_inverse=True)
    given = np.zeros(len(u))
    given[pair] = costs
    twice = np.isin(pair, pair[given[pair] != costs])
    refuse_rows(path, table, twice, "the cost differs from another row of the same pair")
    return priced_pairs(u, v, costs, interest.n_nodes)


def _start(table: pa.Table, interest: Interest, path: str, forbidden: NodePairs, notice: Notice) -> Overlay:
    u, v = (node_codes(table.column(name), interest.node_ids) for name in ("u", "v"))
    sound = sound_edges(u, v, interest.n_nodes)
    edges = NodePairs(sound.low, sound.high)
    left_out = {
        "name a node that the interest does not have": sound.unknown,
        "join a node to itself": sound.loops,
        "are forbidden": len(edges) - len(edges.without(forbidden, interest.n_nodes)),
    }
    told = [f"{count:,} that {what}" for what, count in left_out.items() if count]
    if told:
        notice(f"edges of {path} left out: {', '.join(told)}")
    return Overlay.from_edges(interest.node_ids, sound.low, sound.high)
