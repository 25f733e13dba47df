"""Columns of a DataFrame of Spark, classic or Connect, as Arrow has them.

Only methods of the DataFrame are called: nothing is imported, and its session keeps its settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Longs
from topicloom.errors import InputError, UsageError
from topicloom.overlay.model.python_tables import is_spark, refuse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAMES = ("string", "char", "varchar", "void", "tinyint", "smallint", "int", "bigint", "decimal")
AMOUNTS = (*NAMES, "float", "double")


def grouped_rows(frame: DataFrame, node: str, topic: str) -> tuple[pa.Table, Longs]:
    """Return the distinct rows of the columns that an interest has, and how often each is there."""
    if not is_spark(frame):
        raise refuse("df", "a DataFrame of Spark", frame)
    for argument, name in (("node_column", node), ("topic_column", topic)):
        if not isinstance(name, str):
            raise refuse(argument, "the name of a column", name)
    if node == topic:
        raise UsageError(f"`node_column` and `topic_column` are both {node!r}")
    names = [node, topic]
    names += [name for name in ("role", "rate") if name in frame.columns and name not in names]
    chosen = _chosen(frame, names)
    found = collected(chosen.groupBy(*chosen.columns).count(), names)
    counts = found.column(len(names)).to_numpy().astype(np.int64)
    return found.select(list(range(len(names)))), counts


def _chosen(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a DataFrame of these columns, called c0, c1, ...; one that cannot be used is refused by name.

    Columns are taken by their places: a name may hold dots and backticks, and whether its case counts is a
    setting of the session.
    """
    from topicloom.tables.spark.links import check_version

    check_version(frame.sparkSession)
    if frame.isStreaming:
        raise InputError("the DataFrame is a stream, which has no end: give one that was read as a whole")
    kinds = frame.dtypes
    there = [name for name, _ in kinds]
    places: list[str] = []
    for name in names:
        if name not in there:
            raise InputError(f"the DataFrame has no column {name!r}; its columns are {there}")
        if there.count(name) > 1:
            raise InputError(f"the DataFrame has the column {name!r} more than once; its columns are {there}")
        place = there.index(name)
        _check_kind(name, kinds[place][1], amount=len(places) > 1 and name == "rate")
        # Collations may call names equal that are not.
        collated = "collate" in kinds[place][1]
        places.append(f"collate(x{place}, 'UTF8_BINARY')" if collated else f"x{place}")
    numbered = frame.toDF(*(f"x{place}" for place in range(len(there))))
    return numbered.selectExpr(*(f"{column} AS c{place}" for place, column in enumerate(places)))


def _check_kind(name: str, kind: str, *, amount: bool) -> None:
    if kind.replace("(", " ").split(" ")[0] in (AMOUNTS if amount else NAMES):
        return
    meant = "rates are numbers: cast it to double, or drop it"
    if not amount:
        meant = "identifiers are strings or integers: cast it to string or bigint"
    raise InputError(f"column {name!r} has type {kind}; {meant}")


def pair_columns(frame: DataFrame, first: str, second: str) -> pa.Table:
    """Return the rows of two columns of identifiers."""
    return collected(_chosen(frame, [first, second]), [first, second])


def collected(frame: DataFrame, names: Sequence[str]) -> pa.Table:
    """Return its rows in memory; the first columns have these names."""
    from topicloom.tables.spark.failures import spark_errors

    with spark_errors("the DataFrame"):
        found = frame.toArrow()
    for name, column in zip(names, found.columns, strict=False):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            raise InputError(f"column {name!r} has text that is no UTF-8; decode it before") from None
    return found.rename_columns([*names, *found.column_names[len(names) :]])
