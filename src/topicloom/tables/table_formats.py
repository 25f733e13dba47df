"""Folders that are more than their files: partition folders, and formats with a log of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from topicloom.errors import InputError

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

# A folder or file that tells a format, by name, and how Spark reads that format.
LOGS = {
    "_delta_log": ("a Delta table", "format('delta').load"),
    ".hoodie": ("a Hudi table", "format('hudi').load"),
    "_spark_metadata": ("the output of a streaming query", "parquet"),
}
_ICEBERG = re.compile(r"version-hint\.text|.*\.metadata\.json")


def refuse_other_formats(path: str, names: set[str], inside: Callable[[str], set[str]]) -> None:
    """Refuse a folder that only its own format can read: its files hold rows that were deleted or failed.

    `names` is what the folder holds, `inside` returns what one of its folders holds.
    """
    found = next((LOGS[name] for name in LOGS if name in names), None)
    if found is None and "metadata" in names and any(map(_ICEBERG.fullmatch, inside("metadata"))):
        found = ("an Iceberg table", "format('iceberg').load")
    if found is not None:
        kind, reading = found
        raise InputError(
            f"folder {path} is {kind}, whose files also hold rows that are no longer or not yet part of it: "
            f"save its rows with spark.read.{reading}({path!r}).write.parquet(FOLDER) and give that FOLDER"
        )


def partition_of(name: str) -> tuple[str, str | None] | None:
    """Return column and value of a partition folder; None if it is none.

    >>> partition_of("day=2024-01-01"), partition_of("a%3Db=x%2Fy"), partition_of("data")
    (('day', '2024-01-01'), ('a=b', 'x/y'), None)
    """
    column, equals, value = name.partition("=")
    if not column or not equals or not value:
        return None
    return unquote(column), None if value == NO_VALUE else unquote(value)
