"""Tables that are no files of ours to read: what Spark finds by a name, a query or a format, or has already.

Only values; `tables/spark/origins.py` opens them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from topicloom.errors import UsageError

FRAME = "the DataFrame"
NAMED = ("table", "sql")  # what may stand before a colon in the place of a file
FILES = ("csv", "tsv", "json", "parquet", "text")  # formats that are read by rules of our own


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where Spark gets a table from: exactly one of a `table`, a query, a format, or a DataFrame.

    `path` is what a format loads, and `options` are those of Spark's reader.
    """

    table: str | None = None
    sql: str | None = None
    format: str | None = None
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # they may hold a password
    frame: Any = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """Return what messages call it.

        >>> Origin(table="sales.wants").shown, Origin(format="orc", path="x.orc").shown
        ('table sales.wants', 'x.orc')
        """
        if self.table is not None:
            return f"table {self.table}"
        if self.sql is not None:
            return "the result of the query"
        if self.format is not None:
            return self.path or f"{self.format} table {self.options.get('dbtable', '')}".rstrip()
        return FRAME


def named_origin(text: str) -> Origin | None:
    """Return the table that a word in the place of a file means; None for a file.

    >>> named_origin("table:plant.caps").table, named_origin("sql:SELECT 1 node").sql, named_origin("a.csv")
    ('plant.caps', 'SELECT 1 node', None)
    """
    word, colon, value = text.partition(":")
    if not colon or word not in NAMED:
        return None
    words = ("table:", "sql:", "format", "options")
    return origin_of(table=value, words=words) if word == "table" else origin_of(sql=value, words=words)


def origin_of(
    *,
    table: str | None = None,
    sql: str | None = None,
    format: str | None = None,
    path: str | None = None,
    options: Mapping[str, str] | None = None,
    words: tuple[str, str, str, str] = ("table", "sql", "format", "options"),
) -> Origin:
    """Return what is meant; `words` are the names of the fields in messages.

    >>> origin_of(table="a.b", sql="SELECT 1")
    Traceback (most recent call last):
    topicloom.errors.UsageError: `table` and `sql` both name the table: give one of them
    """
    given = {name: one for name, one in zip(words, (table, sql, format), strict=False) if one is not None}
    if len(given) > 1:
        told = " and ".join(f"`{name}`" for name in given)
        raise UsageError(f"{told} both name the table: give one of them")
    for name, value in given.items():
        if not value.strip():
            raise UsageError(f"`{name}` is empty: name a table, a query or a format")
    if options and sql is not None:
        raise UsageError(f"`{words[3]}` is for a table or a format, not for `{words[1]}`")
    if options and not given:
        raise UsageError(f"`{words[3]}` is for `{words[2]}` or `{words[0]}`: give one of them too")
    return Origin(table, sql, format, path, dict(options or {}))
