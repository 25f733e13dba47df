"""Constraints from files: tables read like all others, names turned into node numbers.

Unlike the rows of an interest, no row may be refused quietly here: a firewall rule that got lost would be a
hole. So a bad row, an unknown node or a missing header is an error that names it. Only an existing overlay
(`start`) may hold what is no longer there.
"""

from __future__ import annotations

import re
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
from topicloom.tables.origins import named_origin
from topicloom.tables.reader import read_all, refuse_rows
from topicloom.tables.source import TableSource, are_small, edges_source, limits_source
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice

COST, TIME = ("cost", "cost"), ("ms", "time")  # columns, and what messages call them
WHOLE = re.compile(r"\+?[0-9]+")
KINDS = ("caps", "forbid", "require", "costs", "start", "rates", "rtt")
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
    rates: str | None = None
    rtt: str | None = None

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds that are given."""
        return tuple(name for name in KINDS if getattr(self, name))

    def check_there(self) -> None:
        """Refuse a file that is bound to fail before any work begins; a small one is read to the end."""
        for kind in self.kinds():
            source = self.source(kind)
            check_there(source)
            if source.origin is None and are_small(source.path):
                table = read_all(LocalReader(), source, empty=True)
                if kind == "caps":
                    _check_whole(table, source.path)

    def source(self, kind: str) -> TableSource:
        """Return the table of that kind."""
        path = getattr(self, kind)
        if kind == "start":
            return edges_source(path, encoding=self.encoding, origin=named_origin(path))
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
    nothing = NodePairs(), np.zeros(0)
    priced, costs = _amounts(table("costs"), interest, files.costs, COST) if files.costs else nothing
    timed, times = _amounts(table("rtt"), interest, files.rtt, TIME) if files.rtt else nothing
    caps, loads = _caps_and_loads(table("caps"), interest, files.caps) if files.caps else (None, None)
    rates = _rates(table("rates"), interest, files.rates) if files.rates else None
    start = _start(table("start"), interest, files.start, forbidden, notice) if files.start else None
    weights: dict[str, Any] = {"rates": rates, "load_caps": loads, "timed": timed, "times": times}
    return Limits(Constraints(caps, forbidden, required, priced, costs, **weights), start)


def unused_told(files: ConstraintFiles, limits: Constraints, objective: str) -> list[str]:
    """Say which weights were given and change nothing in a search for this objective."""
    used = {"rates": ("rate-hops", "rate-ms"), "rtt": ("rate-ms",)}
    return [
        f"`{kind}` changes nothing here: {kind} count with `objective` {' or '.join(names)}"
        + (", and with caps on loads" if kind == "rates" else "")
        for kind, names in used.items()
        if getattr(files, kind)
        and objective not in names
        and not (kind == "rates" and limits.load_caps is not None)
    ]


def _ends(table: pa.Table, interest: Interest, path: str) -> tuple[Ints, Ints]:
    """Return the numbers of columns u and v; a name that is no node and a pair of one node are refused."""
    u, v = (node_codes(table.column(name), interest.node_ids) for name in ("u", "v"))
    for name, codes in (("u", u), ("v", v)):
        refuse_rows(path, table, codes < 0, partial(_no_node, table, name))
    refuse_rows(path, table, u == v, "a node is paired with itself")
    return u, v


def _no_node(table: pa.Table, column: str, row: int) -> str:
    return f"{table.column(column)[row].as_py()!r} is not a node of the interest"


def _column(table: pa.Table, name: str) -> list[Any]:
    """Return the values of an optional column; None where there is none."""
    return table.column(name).to_pylist() if name in table.column_names else [None] * len(table)


def _without_empty(table: pa.Table) -> pa.Table:
    """Leave out optional columns that the file does not have: messages show rows as they are there."""
    return table.select([name for name in table.column_names if table.column(name).null_count < len(table)])


def _check_whole(table: pa.Table, path: str) -> list[str | None]:
    """Return the column of caps; refuse a word that is no whole number, and a row without any cap."""
    words, loads = _column(table, "cap"), _column(table, "load")
    table = _without_empty(table)
    bad = [
        load is None if not word else WHOLE.fullmatch(word) is None
        for word, load in zip(words, loads, strict=True)
    ]
    refuse_rows(path, table, np.array(bad, np.bool_), "the cap is not a whole number of at least 0")
    return words


def _caps_and_loads(table: pa.Table, interest: Interest, path: str) -> tuple[Ints | None, Floats | None]:
    """Return the most edges of each node, and the most it may forward; None where nobody has one."""
    words = _check_whole(table, path)
    table = _without_empty(table)
    edges = np.array([min(int(word), NO_CAP) if word else np.inf for word in words], np.float64)
    loads = np.array([np.inf if load is None else load for load in _column(table, "load")], np.float64)
    caps = np.minimum(_by_node(table, edges, interest, path, "cap"), NO_CAP).astype(np.int32)
    most = _by_node(table, loads, interest, path, "load")
    no_loads = len(loads) and not np.isfinite(loads).any()
    only_loads = len(loads) and not np.isfinite(edges).any()
    return None if only_loads else caps, None if no_loads or not len(loads) else most


def _by_node(table: pa.Table, values: Floats, interest: Interest, path: str, what: str) -> Floats:
    """Return the value of each node, infinite without one; the row of `ALL_NODES` is for all others."""
    nodes = node_codes(table.column("node"), interest.node_ids)
    default = (nodes < 0) & pc.equal(table.column("node"), ALL_NODES).to_numpy()
    refuse_rows(path, table, (nodes < 0) & ~default, partial(_no_node, table, "node"))
    places = np.where(default, interest.n_nodes, nodes)
    given = np.full(interest.n_nodes + 1, np.inf)
    known = np.isfinite(values)
    given[places[known]] = values[known]
    twice = known & np.isin(places, places[known & (given[places] != values)])
    refuse_rows(path, table, twice, f"the {what} differs from another row of the same node")
    own = np.zeros(interest.n_nodes + 1, np.bool_)
    own[places[known]] = True
    found: Floats = np.where(own[:-1], given[:-1], given[-1])
    return found


def _amounts(
    table: pa.Table, interest: Interest, path: str, what: tuple[str, str]
) -> tuple[NodePairs, Floats]:
    """Return what pairs cost, or how long they take."""
    u, v = _ends(table, interest, path)
    column, name = what
    values: Any = np.full(len(table), np.nan)
    if column in table.column_names:
        values = table.column(column).to_numpy()
    refuse_rows(path, table, np.isnan(values), f"the {name} is missing")
    _, pair = np.unique(np.stack((np.minimum(u, v), np.maximum(u, v))), axis=1, return_inverse=True)
    given = np.zeros(len(u))
    given[pair] = values
    twice = np.isin(pair, pair[given[pair] != values])
    refuse_rows(path, table, twice, f"the {name} differs from another row of the same pair")
    return priced_pairs(u, v, values, interest.n_nodes)


def _rates(table: pa.Table, interest: Interest, path: str) -> Floats:
    """Return the rate of each topic; one without a row has none."""
    topics = node_codes(table.column("topic"), interest.topic_ids)

    def unknown(row: int) -> str:
        return f"{table.column('topic')[row].as_py()!r} is not a topic of the interest"

    refuse_rows(path, table, topics < 0, unknown)
    rates: Any = np.full(len(table), np.nan)
    if "rate" in table.column_names:
        rates = table.column("rate").to_numpy()
    refuse_rows(path, table, np.isnan(rates), "the rate is missing")
    found = np.zeros(interest.n_topics)
    found[topics] = rates
    refuse_rows(path, table, found[topics] != rates, "the rate differs from another row of the same topic")
    return found


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
