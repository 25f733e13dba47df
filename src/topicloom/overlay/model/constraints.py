"""What an overlay must respect besides topic-connectivity: caps, forbidden and required pairs, costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from numbers import Real
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Floats, Ints, Longs, freeze_fields, sorted_distinct
from topicloom.base.counts import counted
from topicloom.base.notebook import html_table
from topicloom.errors import InputError
from topicloom.overlay.model.overlay import NodeNames, Overlay, ordered_ends
from topicloom.overlay.model.python_tables import name_array, name_of, pair_rows, refuse

NO_CAP = 2**30
TOLD = {
    "caps": "cap",
    "load": "cap on loads",
    "forbid": "forbidden pair",
    "require": "required pair",
    "costs": "priced pair",
    "rates": "rate",
    "rtt": "timed pair",
}
WEIGHTS = ("load", "rates", "rtt")  # what a search weighs, and the choice of edges by contribution does not


@dataclass(frozen=True, slots=True, eq=False)
class NodePairs:
    """Unordered pairs of node numbers: u < v, sorted, distinct."""

    u: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    v: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        freeze_fields(self)

    @classmethod
    def of(cls, u: Iterable[int], v: Iterable[int], n_nodes: int) -> NodePairs:
        """Node numbers in any order, brought into canonical form; a node paired with itself is refused.

        >>> pairs = NodePairs.of([2, 1, 0], [0, 2, 2], 3)
        >>> list(zip(pairs.u.tolist(), pairs.v.tolist()))
        [(0, 2), (1, 2)]
        """
        low, high = _ordered(u, v, n_nodes)
        return cls._from_keys(sorted_distinct(low * max(n_nodes, 1) + high), n_nodes)

    @classmethod
    def _from_keys(cls, keys: Longs, n_nodes: int) -> NodePairs:
        low, high = np.divmod(keys, max(n_nodes, 1))
        return cls(low.astype(np.int32), high.astype(np.int32))

    def keys(self, n_nodes: int) -> Longs:
        """Return one number per pair, ascending."""
        return self.u.astype(np.int64) * max(n_nodes, 1) + self.v

    def without(self, others: NodePairs, n_nodes: int) -> NodePairs:
        """Return the pairs that are not among `others`."""
        mine = self.keys(n_nodes)
        return NodePairs._from_keys(mine[~np.isin(mine, others.keys(n_nodes))], n_nodes)

    def degrees(self, n_nodes: int) -> Ints:
        """Return how many of the pairs each node is in."""
        return np.bincount(np.concatenate((self.u, self.v)), minlength=n_nodes).astype(np.int32)

    def __len__(self) -> int:
        return len(self.u)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constraints:
    """Limits on the choice of edges, by node number; nothing is limited by default.

    `caps[v]` is the most edges node v may have (`NO_CAP`: any number), None when no node has a cap.
    `forbidden` pairs get no edge, `required` pairs get one. `costs[i]` is what an edge on the i-th pair of
    `priced` costs; every other pair costs 1. `rates` are the messages of each topic per unit of time,
    `load_caps[v]` the most that node v may have to forward (infinite: any number). `times` are the round-trip
    milliseconds of `timed` pairs; every other pair takes as long as the slowest of them.
    """

    caps: Ints | None = None
    forbidden: NodePairs = field(default_factory=NodePairs)
    required: NodePairs = field(default_factory=NodePairs)
    priced: NodePairs = field(default_factory=NodePairs)
    costs: Floats = field(default_factory=lambda: np.zeros(0))
    rates: Floats | None = None
    load_caps: Floats | None = None
    timed: NodePairs = field(default_factory=NodePairs)
    times: Floats = field(default_factory=lambda: np.zeros(0))
    node_ids: pa.StringArray | None = None  # whose numbers these are, where they were given by name

    def __post_init__(self) -> None:
        if not isinstance(self.caps, np.ndarray | None):
            raise refuse("caps", "an array with the cap of each node (by names: Constraints.of)", self.caps)
        freeze_fields(self)
        if self.caps is not None and len(self.caps) and self.caps.min() < 0:
            raise InputError(f"node number {int(self.caps.argmin())} has a negative cap")
        if len(self.costs) != len(self.priced):
            raise InputError(f"{len(self.priced)} priced pairs have {len(self.costs)} costs")
        if not (np.isfinite(self.costs) & (self.costs > 0)).all():
            raise InputError("a cost is a finite number above 0")
        if len(self.times) != len(self.timed) or not (np.isfinite(self.times) & (self.times > 0)).all():
            raise InputError("each pair has a round-trip time: a finite number of milliseconds above 0")
        if self.rates is not None and not (np.isfinite(self.rates) & (self.rates >= 0)).all():
            raise InputError("a rate is a finite number of at least 0")
        if self.load_caps is not None and not (self.load_caps >= 0).all():
            raise InputError("a cap on loads is a number of at least 0")

    @classmethod
    def of(
        cls,
        node_ids: NodeNames,
        *,
        caps: int | Mapping[str, int] | None = None,
        default_cap: int | None = None,
        forbid: Iterable[tuple[str, str]] = (),
        require: Iterable[tuple[str, str]] = (),
        costs: Mapping[tuple[str, str], float] | None = None,
        rtt: Mapping[tuple[str, str], float] | None = None,
        rates: Mapping[str, float] | None = None,
        load_caps: Mapping[str, float] | None = None,
    ) -> Constraints:
        """Make constraints by identifiers; `caps` is one number for all, or one for each node named.

        `node_ids` are all nodes of the interest, in any order, or the interest itself; `rates` of topics
        need the interest, and topics that they do not name have none.

        >>> limits = Constraints.of(["a", "b", "c"], caps={"b": 1}, forbid=[("c", "a")])
        >>> limits.kinds(), limits.caps.tolist()[1]
        (('caps', 'forbid'), 1)
        """
        topic_ids = getattr(node_ids, "topic_ids", None)
        node_ids = name_array(node_ids).sort()  # as an interest numbers them
        twice = node_ids.value_counts().filter(pc.greater(node_ids.value_counts().field("counts"), 1))
        if len(twice):
            raise InputError(f"`node_ids` has {twice[0]['values'].as_py()!r} twice")
        if caps is not None and not isinstance(caps, Mapping | Real):
            raise refuse("caps", "a whole number, or a dictionary of them by node", caps)
        for argument, given in (("costs", costs), ("rtt", rtt), ("rates", rates), ("load_caps", load_caps)):
            if not isinstance(given, Mapping | None):
                by = "pair" if argument in ("costs", "rtt") else "topic" if argument == "rates" else "node"
                raise refuse(argument, f"a dictionary of numbers by {by}", given)
        numbers = {name: number for number, name in enumerate(node_ids.to_pylist())}

        def pairs(names: Iterable[tuple[str, str]], argument: str) -> tuple[list[int], list[int]]:
            rows = pair_rows(names, ("u", "v"), argument)
            u, v = ([_number(numbers, name) for name in rows[end].to_pylist()] for end in ("u", "v"))
            return u, v

        named = caps if isinstance(caps, Mapping) else {}
        common = default_cap if isinstance(caps, Mapping) or caps is None else caps
        limits = None
        if common is not None or named:
            limits = np.full(len(node_ids), NO_CAP if common is None else _cap("all nodes", common), np.int32)
            for name, cap in named.items():
                limits[_number(numbers, name_of(name))] = _cap(repr(name), cap)
        prices = costs or {}
        amounts = [_cost(pair, cost) for pair, cost in prices.items()]
        priced, values = priced_pairs(*pairs(prices, "costs"), amounts, len(node_ids))
        tripped = rtt or {}
        milliseconds = [_amount(f"the round-trip time of {pair!r}", ms) for pair, ms in tripped.items()]
        timed, times = priced_pairs(*pairs(tripped, "rtt"), milliseconds, len(node_ids))
        loads = None
        if load_caps is not None:
            loads = np.full(len(node_ids), np.inf)
            for name, most in load_caps.items():
                loads[_number(numbers, name_of(name))] = _amount(f"the cap on the load of {name!r}", most)
        return cls(
            limits,
            NodePairs.of(*pairs(forbid, "forbid"), len(node_ids)),
            NodePairs.of(*pairs(require, "require"), len(node_ids)),
            priced,
            values,
            None if rates is None else _rates(topic_ids, rates),
            loads,
            timed,
            times,
            node_ids,
        )

    def __repr__(self) -> str:
        told = [counted(count, TOLD[kind]) for kind, count in self.counts().items()]
        return f"Constraints({', '.join(told) or 'none'})"

    def _repr_html_(self) -> str:
        return html_table("Constraints", {f"{TOLD[kind]}s": n for kind, n in self.counts().items()})

    def kinds(self) -> tuple[str, ...]:
        """Return the names of the limits in use, as the command line's options call them."""
        return tuple(self.counts())

    def counts(self) -> dict[str, int]:
        """Return for each limit in use how many nodes or pairs it names."""
        used = {
            "caps": None if self.caps is None else int((self.caps < NO_CAP).sum()),
            "forbid": len(self.forbidden) or None,
            "require": len(self.required) or None,
            "costs": len(self.priced) or None,
            "load": None if self.load_caps is None else int(np.isfinite(self.load_caps).sum()),
            "rates": None if self.rates is None else len(self.rates),
            "rtt": len(self.timed) or None,
        }
        return {name: count for name, count in used.items() if count is not None}

    def digests(self) -> dict[str, str]:
        """Return for each limit in use a digest of its content, by which other limits are told apart."""
        content = {
            "caps": (self.caps,),
            "forbid": (self.forbidden.u, self.forbidden.v),
            "require": (self.required.u, self.required.v),
            "costs": (self.priced.u, self.priced.v, self.costs),
            "load": (self.load_caps,),
            "rates": (self.rates,),
            "rtt": (self.timed.u, self.timed.v, self.times),
        }
        return {
            kind: sha256(
                b"".join(np.ascontiguousarray(part).tobytes() for part in content[kind])
            ).hexdigest()[:16]
            for kind in self.kinds()
        }

    @property
    def usual_time(self) -> float:
        """Return the milliseconds of a pair that has none of its own: those of the slowest that has."""
        return float(self.times.max(initial=0.0))

    def without_weights(self) -> Constraints:
        """Return these limits without what only a search weighs: rates, caps on loads, round-trip times."""
        empty = NodePairs()
        return replace(self, rates=None, load_caps=None, timed=empty, times=np.zeros(0))

    def cost_of(self, overlay: Overlay) -> float:
        """Return what the edges of an overlay cost together."""
        mine = NodePairs(overlay.u, overlay.v).keys(overlay.n_nodes)
        priced = np.isin(self.priced.keys(overlay.n_nodes), mine)
        return float(self.costs[priced].sum() + len(mine) - priced.sum())


UNCONSTRAINED = Constraints()


def priced_pairs(
    u: Iterable[int], v: Iterable[int], costs: Iterable[float], n_nodes: int
) -> tuple[NodePairs, Floats]:
    """Bring priced pairs into canonical form; one that has two different costs is refused."""
    low, high = _ordered(u, v, n_nodes)
    values = np.asarray(list(costs), np.float64)
    order = np.lexsort((values, high, low))
    low, high, values = low[order], high[order], values[order]
    same = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    clash = np.flatnonzero(same & (values[1:] != values[:-1]))
    if len(clash):
        raise InputError(f"node numbers {low[clash[0]]} and {high[clash[0]]} have two different costs")
    first = np.concatenate((np.ones(min(len(low), 1), np.bool_), ~same))
    return NodePairs(low[first].astype(np.int32), high[first].astype(np.int32)), values[first]


def _ordered(u: Iterable[int], v: Iterable[int], n_nodes: int) -> tuple[Longs, Longs]:
    low, high = ordered_ends(u, v)
    if len(low) and (low.min() < 0 or high.max() >= n_nodes):
        raise InputError(f"a pair names a node number outside 0..{n_nodes - 1}")
    if (low == high).any():
        raise InputError(f"node number {low[low == high][0]} is paired with itself")
    return low, high


def _number(numbers: Mapping[str, int], name: str | None) -> int:
    if name is None or name not in numbers:
        raise InputError(f"{name!r} is not a node of the interest")
    return numbers[name]


def _rates(topic_ids: pa.StringArray | None, rates: Mapping[str, float]) -> Floats:
    if topic_ids is None:
        raise InputError("`rates` are those of topics: give the interest in place of `node_ids`")
    numbers = {name: number for number, name in enumerate(topic_ids.to_pylist())}
    values = np.zeros(len(numbers))
    for name, rate in rates.items():
        if name not in numbers:
            raise InputError(f"{name!r} is not a topic of the interest")
        values[numbers[name]] = _amount(f"the rate of {name!r}", rate)
    return values


def _amount(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{what} is {value!r}; it is a number of at least 0")
    return float(value)


def _cost(pair: object, cost: Any) -> float:
    if isinstance(cost, bool) or not isinstance(cost, Real):
        raise InputError(f"the cost of {pair!r} is {cost!r}; a cost is a number above 0")
    return float(cost)


def _cap(whose: str, cap: Any) -> int:
    number = float(cap) if isinstance(cap, Real) and not isinstance(cap, bool) else math.nan
    whole = number.is_integer()
    if not whole or cap < 0:
        raise InputError(f"the cap of {whose} is {cap!r}; a cap is a whole number of at least 0")
    return min(int(cap), NO_CAP)
