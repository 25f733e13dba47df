"""Two columns of identifiers out of whatever Python has: pairs, lists, arrays, frames, graphs.

Identifiers are strings; whole numbers become digits. What is missing (None, NaN, an empty string) is null in
the result, and its users say what becomes of such a row. Libraries that are not loaded are not asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Bools
from topicloom.errors import InputError, UsageError

TEXT = pa.string()


def comes_from(value: object, *libraries: str) -> bool:
    """Is its type, or one that this is derived from, of one of these libraries?"""
    return any(kind.__module__.partition(".")[0] in libraries for kind in type(value).__mro__)


def is_graph(value: object) -> bool:
    """Is it a graph of networkx or igraph?"""
    return comes_from(value, "networkx", "igraph") and hasattr(value, "edges" if _nx(value) else "es")


def _nx(value: object) -> bool:
    return comes_from(value, "networkx")


def is_spark(value: object) -> bool:
    """Is it a DataFrame of Spark, classic or Connect?"""
    ours = any(f"{kind.__module__}.".startswith("pyspark.sql.") for kind in type(value).__mro__)
    return ours and hasattr(value, "toArrow")


def is_table(value: object) -> bool:
    """Is it a table of Arrow or a frame in memory? One of Spark is not: it must be collected."""
    if comes_from(value, "pyspark"):
        return False
    return isinstance(value, pa.Table | pa.RecordBatch) or hasattr(value, "columns")


def refuse(argument: str, takes: str, value: object) -> UsageError:
    """Return the error that names an argument, what it takes, and what it got."""
    kind, shown = type(value).__name__, repr(value)
    got = f"{kind} {shown}" if len(shown) <= 40 and "\n" not in shown else f"a value of type {kind}"
    return UsageError(f"`{argument}` takes {takes}; it got {'None' if value is None else got}")


def column_rows(table: Any, first: str, second: str) -> pa.Table:
    """Return two named columns of a frame (pandas, polars) or an Arrow table as identifiers."""
    there = list(getattr(table, "column_names", getattr(table, "columns", ())))
    missing = [name for name in (first, second) if name not in there]
    for name in (first, second):
        if there.count(name) > 1:
            raise InputError(f"the table has the column {name!r} more than once; its columns are {there}")
    if missing:
        kind = "table" if isinstance(table, pa.Table | pa.RecordBatch) else "frame"
        raise InputError(f"the {kind} has no column {missing[0]!r}; its columns are {there}")
    names = [str(first), str(second)]  # pandas calls columns without a name 0, 1, ...
    columns = [identifiers(table[own], name) for own, name in zip((first, second), names, strict=True)]
    return pa.Table.from_arrays(columns, names)


def chosen_columns(table: Any, known: tuple[str, str], argument: str, *, first_two: bool) -> tuple[str, str]:
    """Return which columns are meant, as for a file: the known names, or else the only (or first) two."""
    there = list(getattr(table, "column_names", getattr(table, "columns", ())))
    if all(name in there for name in known):
        return known
    if len(there) == 2 or (first_two and len(there) > 2):
        return there[0], there[1]
    raise InputError(f"`{argument}` has the columns {there}: call two of them {known[0]!r} and {known[1]!r}")


def identifiers(column: Any, name: str) -> pa.ChunkedArray:
    """Return a column as strings, null where a value is missing or empty.

    A column of numbers with a fraction is refused, except that pandas makes whole numbers with gaps floats.

    >>> identifiers(pa.chunked_array([[3, None, 12]]), "node").to_pylist()
    ['3', None, '12']
    """
    found = _arrow(column, name)
    kinds = pa.types
    if kinds.is_dictionary(found.type):
        found = found.cast(found.type.value_type)
    if kinds.is_floating(found.type):
        found = _whole(found, name)
    allowed = (
        kinds.is_string, kinds.is_large_string, kinds.is_string_view, kinds.is_integer, kinds.is_decimal,
        kinds.is_null,
    )  # fmt: skip
    if not any(kind(found.type) for kind in allowed):
        raise InputError(f"column {name!r} has type {found.type}; identifiers are strings or integers")
    text = found.cast(TEXT)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, TEXT), text)


def _arrow(column: Any, name: str) -> pa.ChunkedArray:
    if isinstance(column, pa.ChunkedArray):
        return column
    if isinstance(column, pa.Array):
        return pa.chunked_array([column])
    if comes_from(column, "polars"):
        return pa.chunked_array([column.to_arrow()])
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several types
        found = pa.array(_each(column, name), TEXT)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _each(values: Iterable[object], name: str) -> list[str | None]:
    found = []
    for row, value in enumerate(values, start=1):
        if not _is_name(value) and not is_missing(value):
            raise InputError(f"column {name!r} row {row} is {value!r}; identifiers are strings or integers")
        found.append(name_of(value))
    return found


def _whole(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    gaps = pc.fill_null(pc.is_null(column, nan_is_null=True), True)
    numbers = pc.if_else(gaps, pa.scalar(None, column.type), column)
    if pc.any(gaps).as_py():
        try:
            return numbers.cast(pa.int64())
        except pa.ArrowInvalid:
            pass
    raise InputError(f"column {name!r} has type {column.type}; identifiers are strings or integers")


def is_missing(value: object) -> bool:
    """Is it None, NaN, pandas' NA or an empty string?"""
    if value is None or value == "" or (isinstance(value, Real) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def _is_name(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, Integral) and not isinstance(value, bool | np.bool_))


def name_of(value: object) -> str | None:
    """Return an identifier as a string; None where it is missing or cannot be one.

    >>> name_of("a"), name_of(7), name_of(""), name_of(1.5)
    ('a', '7', None, None)
    """
    if not _is_name(value) or is_missing(value):
        return None
    return str(value) if isinstance(value, str) else str(int(value))  # type: ignore[call-overload]


def find_name(ids: pa.StringArray, name: str | int, kind: str) -> int:
    """Return the number of an identifier; one that is not there is refused by name."""
    text = name_of(name)
    found = -1 if text is None else pc.index(ids, pa.scalar(text, pa.string())).as_py()
    if found < 0:
        there = f"there {'is' if len(ids) == 1 else 'are'} {len(ids):,}{': ' if len(ids) else ''}{_some(ids)}"
        raise InputError(f"there is no {kind} called {name!r}; {there}")
    return int(found)


def _some(ids: pa.StringArray) -> str:
    return ", ".join(map(repr, ids[:3].to_pylist())) + (", ..." if len(ids) > 3 else "")


def name_array(names: Any, argument: str = "node_ids") -> pa.StringArray:
    """Return the names of nodes as Arrow has them: an array, a list, or an interest that has them."""
    names = getattr(names, "node_ids", names)
    if isinstance(names, pa.ChunkedArray):
        names = names.combine_chunks()
    if isinstance(names, pa.Array):
        return names
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise refuse(argument, "the names of nodes, or an interest", names)
    listed = [name_of(name) for name in names]
    if None in listed:
        raise InputError(f"`{argument}`: name {listed.index(None) + 1} is neither text nor a whole number")
    return pa.array(listed, TEXT)


def pair_rows(pairs: Any, names: tuple[str, str], argument: str) -> pa.Table:
    """Return pairs of identifiers as a table; a pair that is none is refused by its place."""
    takes = f"pairs ({names[0]}, {names[1]}) of strings or whole numbers"
    if isinstance(pairs, str | bytes | os.PathLike) or not isinstance(pairs, Iterable):
        raise refuse(argument, takes, pairs)
    columns: tuple[list[str], list[str]] = [], []
    for row, pair in enumerate(pairs, start=1):
        try:
            first, second = (None, None) if isinstance(pair, str | bytes) else pair
        except (TypeError, ValueError):  # not two, or nothing with places
            first = second = None
        one = first if type(first) is str and first else name_of(first)
        other = second if type(second) is str and second else name_of(second)
        if one is None or other is None:
            raise InputError(
                f"pair {row} is {pair!r}: a pair is two non-empty strings ({names[0]}, {names[1]}), "
                "or whole numbers"
            )
        columns[0].append(one)
        columns[1].append(other)
    return pa.table({name: pa.array(own, TEXT) for name, own in zip(names, columns, strict=True)})


def list_rows(lists: Mapping[Any, Iterable[Any]], names: tuple[str, str], argument: str) -> pa.Table:
    """Return a mapping of identifiers to lists of identifiers as a table of pairs."""
    for key, own in lists.items():
        if isinstance(own, str | bytes) or not isinstance(own, Iterable):
            raise InputError(f"`{argument}`: {key!r} has {own!r}, where a list of names belongs")
    pairs = chain.from_iterable(((key, one) for one in own) for key, own in lists.items())
    return pair_rows(pairs, names, argument)


def graph_nodes(graph: Any) -> list[str]:
    """Return the names of the nodes of a graph of networkx or igraph."""
    if _nx(graph):
        return [str(name) for name in graph.nodes]
    named = "name" in graph.vs.attributes()
    return [str(name) for name in (graph.vs["name"] if named else range(graph.vcount()))]


def graph_rows(graph: Any) -> pa.Table:
    """Return the edges of a graph of networkx or igraph by the names of their ends."""
    if _nx(graph):
        ends = [(str(u), str(v)) for u, v in graph.edges()]
    else:
        names = graph_nodes(graph)
        ends = [(names[u], names[v]) for u, v in graph.get_edgelist()]
    return pa.table({"u": pa.array([u for u, _ in ends], TEXT), "v": pa.array([v for _, v in ends], TEXT)})


def edge_rows(value: Any, argument: str = "edges") -> pa.Table:
    """Return edges as rows `u`, `v` of identifiers: a graph, a table, a frame, an array or pairs."""
    if is_graph(value):
        return graph_rows(value)
    if is_table(value):
        columns = chosen_columns(value, ("u", "v"), argument, first_two=True)
        return column_rows(value, *columns).rename_columns(["u", "v"])
    return pair_rows(value, ("u", "v"), argument)


def whole_rows(table: pa.Table) -> Bools:
    """Return which rows have all their identifiers."""
    whole = np.ones(table.num_rows, np.bool_)
    for column in table.columns:
        whole &= ~np.asarray(column.is_null().to_numpy(), np.bool_)
    return whole
