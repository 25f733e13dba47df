"""What Python callers say of a table: where it is, its columns, how it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from topicloom.api.arguments import check_flag, check_path, check_text, check_whole
from topicloom.errors import UsageError
from topicloom.overlay.model.python_tables import is_spark, refuse
from topicloom.tables.origins import Origin, origin_of
from topicloom.tables.source import TableSource, interest_source

OURS = ("csv", "tsv", "json", "parquet")  # formats that are read by our own rules


def described(
    path: Any = None,
    *,
    table: str | None = None,
    sql: str | None = None,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    node_column: str | int | None = None,
    topic_column: str | int | None = None,
    header: bool = True,
    separator: str | None = None,
    quote: bool | None = None,
    multiline: bool = False,
    encoding: str = "utf-8",
) -> TableSource:
    """Return a table of (node, topic) pairs as described: files, a DataFrame, or what Spark finds."""
    columns: dict[str, Any] = {
        "first": column_choice("node_column", node_column),
        "second": column_choice("topic_column", topic_column),
    }
    check_text("separator", separator, "one character", none=True)
    check_text("encoding", encoding, "the name of an encoding")
    check_text("format", format, "csv, tsv, json or parquet, or the name of a format of Spark", none=True)
    check_text("table", table, "the name of a table, such as catalog.schema.name", none=True)
    check_text("sql", sql, "a query", none=True)
    check_flag("quote", quote, none=True)
    for name, value in {"header": header, "multiline": multiline}.items():
        check_flag(name, value)
    if options is not None and not isinstance(options, Mapping):
        raise refuse("options", "a dictionary of options of Spark's reader", options)
    foreign = format is not None and format not in OURS
    if path is not None and (table is not None or sql is not None):
        raise UsageError(f"`path` and `{'sql' if table is None else 'table'}` both name the table: give one")
    if is_spark(path):
        return interest_source(origin=Origin(frame=path), **columns)
    if table is not None or sql is not None or foreign or options:
        if format in OURS and (table is not None or sql is not None):
            named = "sql" if table is None else "table"
            raise UsageError(f"`format={format}` is for files at `path`, not for `{named}`: give one of them")
        if format in OURS:
            raise UsageError(f"`options` are for formats that Spark reads by itself, and {format} is not one")
        place = None if path is None else str(check_path("path", path))
        place = os.fspath(path) if isinstance(path, str) else place
        read_by = {name: str(value) for name, value in (options or {}).items()}
        origin = origin_of(table=table, sql=sql, format=format, path=place, options=read_by)
        return interest_source(origin=origin, **columns)
    check_path("path", path, "the path of a table, or a DataFrame of Spark")
    return interest_source(
        path,
        header=header,
        separator=separator,
        quote=quote,
        multiline=multiline,
        encoding=encoding,
        format=format,
        **columns,
    )


def column_choice(name: str, value: object) -> str | None:
    """Return a column as the reader takes it; positions are numbers from 1."""
    if isinstance(value, str | None):
        return value
    try:
        check_whole(name, value, least=1)
    except UsageError:
        raise refuse(name, "the name of a column, or its position from 1", value) from None
    return str(value)
