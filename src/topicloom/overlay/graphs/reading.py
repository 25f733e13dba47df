"""The nodes and edges of a graph file, in any order, made an interest and an overlay again."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.arrays import Ints, Longs
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import decoder
from topicloom.overlay.graphs.writing import NODE_KEYS, RATE_LIST, ROLE_LIST, TOPICS, UNWANTED
from topicloom.overlay.model.interest import Interest, number_identifiers
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.records import ROLES


@dataclass(slots=True)
class GraphCollector:
    """Takes the nodes and edges of a file in the order they come, and makes the two values of them.

    `file` names it in messages, `where` in those about one line or node. Names are decoded here.
    """

    file: str
    decode: Callable[[str], str] = str
    numbers: dict[str, int] = field(default_factory=dict)
    declared: bytearray = field(default_factory=bytearray)
    topics: dict[str, int] = field(default_factory=dict)
    pair_nodes: array[int] = field(default_factory=lambda: array("i"))
    pair_topics: array[int] = field(default_factory=lambda: array("i"))
    roles: list[int] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    u: array[int] = field(default_factory=lambda: array("i"))
    v: array[int] = field(default_factory=lambda: array("i"))

    def names_are(self, how: str | None, where: str) -> None:
        """Take in how the file writes names."""
        self.decode = decoder(how, where)

    def add_topics(self, values: Any, where: str, key: str = UNWANTED) -> list[int]:
        """Number the topics of a JSON array, as text or as it is; no node need want them."""
        names = [self.decode(topic) for topic in _strings(_listed(values, where, key), where)]
        return [self.topics.setdefault(topic, len(self.topics)) for topic in names]

    def add_node(self, name: str, attributes: Mapping[str, Any], where: str) -> None:
        """Add a node with its topics and, where the file has them, its roles and rates."""
        name = self.decode(name)
        topics, roles, rates = (attributes.get(key) for key in NODE_KEYS)
        topics = self.add_topics([] if topics is None else topics, where, TOPICS)
        number = self._number(name)
        if self.declared[number]:
            raise InputError(f"{self.file} has two nodes {name!r}")
        self.declared[number] = 1
        self.pair_nodes.extend([number] * len(topics))
        self.pair_topics.extend(topics)
        for role in self._extras(roles, ROLE_LIST, len(topics), name, where):
            if role not in ROLES:
                raise InputError(
                    f"{self.file}: node {name!r} has role {role!r}; it is one of {', '.join(ROLES)}"
                )
            self.roles.append(ROLES.index(role))
        for rate in self._extras(rates, RATE_LIST, len(topics), name, where):
            if rate is not None and type(rate) not in (int, float):
                raise InputError(f"{self.file}: node {name!r} has rate {rate!r}; it is a number or null")
            self.rates.append(float("nan") if rate is None else float(rate))

    def _extras(self, values: Any, key: str, n_topics: int, name: str, where: str) -> list[Any]:
        listed = [] if values is None else _listed(values, where, key)
        if values is not None and len(listed) != n_topics:
            raise InputError(f"{self.file}: node {name!r} has {n_topics} topics, {len(listed)} {key}")
        return listed

    def add_edge(self, one: str, other: str) -> None:
        """Add an edge; its nodes may come later."""
        one, other = self.decode(one), self.decode(other)
        if one == other:
            raise InputError(f"{self.file}: node {one!r} has an edge to itself")
        self.u.append(self._number(one))
        self.v.append(self._number(other))

    def _number(self, name: str) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.numbers)
            self.declared.append(0)
        return number

    def finish(self) -> tuple[Interest, Overlay]:
        """Return the interest and the overlay, in canonical order whatever the order of the file was."""
        missing = self.declared.find(0)
        if missing >= 0:
            name = next(name for name, number in self.numbers.items() if number == missing)
            raise InputError(f"{self.file}: an edge ends at {name!r}, which is not a node of the file")
        node_ids, node_rank = _ranked(self.numbers, self.file)
        topic_ids, topic_rank = _ranked(self.topics, self.file)
        nodes = node_rank[np.frombuffer(self.pair_nodes, np.intc)]
        topics = topic_rank[np.frombuffer(self.pair_topics, np.intc)]
        keys, first = np.unique(nodes.astype(np.int64) * max(len(topic_ids), 1) + topics, return_index=True)
        interest = Interest.from_codes(
            node_ids,
            topic_ids,
            *np.divmod(keys, max(len(topic_ids), 1)),
            roles=self._column(self.roles, np.uint8, first, ROLE_LIST),
            rates=self._column(self.rates, np.float64, first, RATE_LIST),
        )
        u, v = (node_rank[np.frombuffer(ends, np.intc)] for ends in (self.u, self.v))
        return interest, Overlay.from_edges(node_ids, u, v)

    def _column(self, values: list[Any], kind: Any, chosen: Longs, key: str) -> NDArray[Any] | None:
        if not values:
            return None
        if len(values) != len(self.pair_nodes):
            raise InputError(f"{self.file}: some nodes have {key}, others not")
        return np.array(values, kind)[chosen]


def _ranked(numbers: dict[str, int], where: str) -> tuple[pa.StringArray, Ints]:
    """Return the names in byte order, and the place there of each name by its first number."""
    try:
        ids, rank = number_identifiers(pa.chunked_array([pa.array(list(numbers), pa.string())]))
    except UnicodeEncodeError:
        raise InputError(f"{where} holds a name that is not Unicode text (a lone surrogate)") from None
    return ids if isinstance(ids, pa.Array) else ids.combine_chunks(), rank


def _listed(text: Any, where: str, key: str) -> list[Any]:
    """Return the values of an attribute: a JSON array, as text or as it is."""
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


def _strings(values: Sequence[Any], where: str) -> list[str]:
    """Return topics as identifiers: strings stay, whole numbers become their digits."""
    for value in values:
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            raise InputError(f"{where}: topic {value!r} is neither a string nor a whole number")
    return [value if type(value) is str else str(value) for value in values]
