"""An interest out of a frame, by the rules of the command line: which rows are refused, who is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Bools
from topicloom.base.warn import warn_caller
from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.merge_pairs import number_small
from topicloom.overlay.model.python_tables import (
    chosen_columns,
    column_rows,
    comes_from,
    identifiers,
    is_graph,
    is_missing,
    is_spark,
    is_table,
    list_rows,
    pair_rows,
    refuse,
    whole_rows,
)
from topicloom.overlay.model.spark_frames import grouped_rows
from topicloom.tables.records import MEANINGS, ROLE, ROLES, in_range

PAIR = ("node", "topic")
TAKES = (
    "an Interest, (node, topic) pairs, a dictionary of lists, a table (pandas, Arrow, Spark) or a graph of "
    "networkx with bipartite sides"
)


def interest_of(value: Any, argument: str = "interest") -> Interest:
    """Return what Python has for an interest as one: a table, pairs, lists, a graph.

    >>> interest_of({"a": ["x"], "b": ["x", "y"]})
    Interest(2 nodes, 2 topics, 3 subscriptions)
    """
    if isinstance(value, Interest):
        return value
    if is_graph(value) and comes_from(value, "networkx"):
        return Interest.from_networkx(value)
    if is_spark(value):
        return interest_from_spark(value, *chosen_columns(value, PAIR, argument, first_two=False))
    if isinstance(value, Mapping):
        return Interest.from_arrow(list_rows(value, PAIR, argument))
    if is_table(value):
        columns = chosen_columns(value, PAIR, argument, first_two=False)
        return interest_from_frame(value, *columns)
    if isinstance(value, list | tuple | set | frozenset | np.ndarray) or hasattr(value, "__next__"):
        return Interest.from_arrow(pair_rows(value, PAIR, argument))
    raise refuse(argument, TAKES, value)


def interest_from_frame(frame: Any, node: str, topic: str, *, strict: bool = False) -> Interest:
    """Make an interest of two columns, and of `role` and `rate` where they are there."""
    if not is_table(frame):
        raise refuse("frame", "a frame of pandas", frame)
    rows, good, why = _judged(frame, node, topic)
    if refused := int(np.count_nonzero(~good)):
        _tell(refused, f"row {int(np.argmin(good)) + 1}", refused < len(good), why, strict=strict)
    return _numbered(rows.filter(pa.array(good)))


def interest_from_spark(frame: Any, node: str, topic: str, *, strict: bool = False) -> Interest:
    """Make an interest of a DataFrame of Spark, which groups equal rows before they come here."""
    found, counts = grouped_rows(frame, node, topic)
    rows, good, why = _judged(found, node, topic)
    if not good.all():
        wrong = found.filter(pa.array(~good))
        first = wrong.sort_by([(name, "ascending") for name in wrong.column_names]).slice(0, 1).to_pylist()[0]
        shown = ", ".join(f"{name} {value!r}" for name, value in first.items())
        _tell(int(counts[~good].sum()), shown, bool(good.any()), why, strict=strict)
    return _numbered(rows.filter(pa.array(good)))


def _judged(frame: Any, node: str, topic: str) -> tuple[pa.Table, Bools, str]:
    """Return the columns that count, which rows can be used, and what is wrong with the others."""
    columns = dict(zip(PAIR, column_rows(frame, node, topic).columns, strict=True))
    good = whole_rows(pa.table(columns))
    wrong = [] if good.all() else [f"the {node} or {topic} is missing or empty"]
    there = getattr(frame, "column_names", getattr(frame, "columns", ()))
    for name, check in (("role", _roles), ("rate", _rates)):
        if name in there and name not in (node, topic):
            columns[name], sound = check(frame[name])
            good &= sound
            if not sound.all():
                meant = f"none of {ROLE}" if name == "role" else f"not {MEANINGS['amount']}"
                wrong.append(f"the {name} is {meant}")
    return pa.table(columns), good, " or ".join(wrong)


def _numbered(rows: pa.Table) -> Interest:
    there = [name for name in ("role", "rate") if name in rows.column_names]
    extras = [name for name in there if rows[name].null_count < len(rows)]
    return number_small(rows, extras) if rows.num_rows else Interest.from_arrow(rows)


def _roles(column: Any) -> tuple[pa.ChunkedArray, Bools]:
    """Return the roles, and which of them can be used; a missing one can."""
    found = identifiers(column, "role")
    sound = [one is None or one in ROLES for one in found.to_pylist()]
    return found, np.array(sound, np.bool_)


def _rates(column: Any) -> tuple[pa.ChunkedArray, Bools]:
    """Return the rates, and which of them can be used; a missing one can."""
    values, sound = [], []
    for one in column.to_pylist() if isinstance(column, pa.ChunkedArray | pa.Array) else list(column):
        try:
            number = None if is_missing(one) else float(one)
        except (TypeError, ValueError):
            number = -1.0
        sound.append(number is None or bool(in_range(number, "amount")))
        values.append(number)
    return pa.chunked_array([pa.array(values, pa.float64())]), np.array(sound, np.bool_)


def _tell(refused: int, example: str, left: bool, why: str, *, strict: bool) -> None:
    rows = f"{refused:,} row{'s are' if refused > 1 else ' is'} refused ({why}), e.g. {example}"
    if strict or not left:
        raise InputError(f"{rows}; {'leave out `strict` to use the rest' if left else 'no row is left'}")
    warn_caller(rows)
