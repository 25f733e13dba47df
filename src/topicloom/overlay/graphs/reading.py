"""The nodes and edges of a graph file, in any order, made an interest and an overlay again."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.arrays import Ints, Longs
from topicloom.errors import InputError
from topicloom.overlay.graphs.writing import RATE_LIST, ROLE_LIST
from topicloom.overlay.model.interest import Interest, number_identifiers
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.records import ROLES


@dataclass(slots=True)
class Collector:
    """Takes the nodes and edges of a file in the order they come, and makes the two values of them."""

    where: str
    numbers: dict[str, int] = field(default_factory=dict)
    declared: bytearray = field(default_factory=bytearray)
    topics: dict[str, int] = field(default_factory=dict)
    pair_nodes: array[int] = field(default_factory=lambda: array("i"))
    pair_topics: array[int] = field(default_factory=lambda: array("i"))
    roles: list[int] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    u: array[int] = field(default_factory=lambda: array("i"))
    v: array[int] = field(default_factory=lambda: array("i"))

    def add_node(
        self,
        name: str,
        topics: Sequence[str],
        roles: Sequence[Any] | None = None,
        rates: Sequence[Any] | None = None,
    ) -> None:
        number = self._number(name)
        if self.declared[number]:
            raise InputError(f"{self.where} has two nodes {name!r}")
        self.declared[number] = 1
        for topic in topics:
            self.pair_nodes.append(number)
            self.pair_topics.append(self.topics.setdefault(topic, len(self.topics)))
        for key, values in ((ROLE_LIST, roles), (RATE_LIST, rates)):
            if values is not None and len(values) != len(topics):
                raise InputError(f"{self.where}: node {name!r} has {len(topics)} topics, {len(values)} {key}")
        for role in roles or ():
            if role not in ROLES:
                raise InputError(
                    f"{self.where}: node {name!r} has role {role!r}; it is one of {', '.join(ROLES)}"
                )
            self.roles.append(ROLES.index(role))
        for rate in rates or ():
            if rate is not None and type(rate) not in (int, float):
                raise InputError(f"{self.where}: node {name!r} has rate {rate!r}; it is a number or null")
            self.rates.append(float("nan") if rate is None else float(rate))

    def add_edge(self, one: str, other: str) -> None:
        if one == other:
            raise InputError(f"{self.where}: node {one!r} has an edge to itself")
        self.u.append(self._number(one))
        self.v.append(self._number(other))

    def add_topics(self, topics: Sequence[str]) -> None:
        """Topics that no node may want."""
        for topic in topics:
            self.topics.setdefault(topic, len(self.topics))

    def _number(self, name: str) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.numbers)
            self.declared.append(0)
        return number

    def finish(self) -> tuple[Interest, Overlay]:
        """The interest and the overlay, in their canonical order whatever the order of the file was."""
        missing = self.declared.find(0)
        if missing >= 0:
            name = next(name for name, number in self.numbers.items() if number == missing)
            raise InputError(f"{self.where}: an edge ends at {name!r}, which is not a node of the file")
        node_ids, node_rank = _ranked(self.numbers, self.where)
        topic_ids, topic_rank = _ranked(self.topics, self.where)
        nodes = node_rank[np.frombuffer(self.pair_nodes, np.intc)]
        topics = topic_rank[np.frombuffer(self.pair_topics, np.intc)]
        keys, first = np.unique(nodes.astype(np.int64) * max(len(topic_ids), 1) + topics, return_index=True)
        interest = Interest.from_codes(
            node_ids,
            topic_ids,
            *np.divmod(keys, max(len(topic_ids), 1)),
            roles=self._extra(self.roles, np.uint8, first, ROLE_LIST),
            rates=self._extra(self.rates, np.float64, first, RATE_LIST),
        )
        u, v = (node_rank[np.frombuffer(ends, np.intc)] for ends in (self.u, self.v))
        return interest, Overlay.from_edges(node_ids, u, v)

    def _extra(self, values: list[Any], kind: Any, chosen: Longs, key: str) -> NDArray[Any] | None:
        if not values:
            return None
        if len(values) != len(self.pair_nodes):
            raise InputError(f"{self.where}: some nodes have {key}, others not")
        return np.array(values, kind)[chosen]


def _ranked(numbers: dict[str, int], where: str) -> tuple[pa.StringArray, Ints]:
    """The names in byte order, and the place there of each name by its first number."""
    try:
        ids, rank = number_identifiers(pa.chunked_array([pa.array(list(numbers), pa.string())]))
    except UnicodeEncodeError:
        raise InputError(f"{where} holds a name that is not Unicode text (a lone surrogate)") from None
    return ids if isinstance(ids, pa.Array) else ids.combine_chunks(), rank


def listed(text: Any, where: str, key: str) -> list[Any]:
    """The values of an attribute: a JSON array, as text or as it is."""
    if isinstance(text, str):
        try:
            text = json.loads(text)
        except ValueError:
            raise InputError(
                f'{where}: {key} is {text[:60]!r}; it should be a JSON array such as ["a", "b"]'
            ) from None
    if not isinstance(text, list):
        raise InputError(f'{where}: {key} should be a JSON array such as ["a", "b"]')
    return text


def strings(values: Sequence[Any], where: str) -> list[str]:
    """Topics as identifiers: strings stay, whole numbers become their digits."""
    for value in values:
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            raise InputError(f"{where}: topic {value!r} is neither a string nor a whole number")
    return [value if type(value) is str else str(value) for value in values]
