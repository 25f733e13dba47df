"""What both readers of Parquet share: which columns are the fields, and what is said of those that are not.

`spark/frames.py` judges values by Spark's expressions, `local/parquet.py` by Arrow's functions; the contract
tests hold them to the same rows and the same words.
"""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.errors import InputError
from topicloom.tables.columns import place_fields
from topicloom.tables.records import MEANINGS, ROLE, Field
from topicloom.tables.source import Resolved, TableSource

NOT_PARQUET = "cannot read {file}: it is not a whole Parquet file"
OTHER_TYPES = "the files of {path} have a column of one name and different types: make them alike"
TWICE = "{path} has two columns of the same name: rename one of them"

Placed = list[tuple[Field, int]]  # a field and the position of its column


def found_fields(
    source: TableSource, names: Sequence[str], *, merged: bool = False
) -> tuple[Placed, str | None]:
    """Return the fields that are there, optional ones last and in the order of the columns; and a notice.

    Columns that were `merged` from several files have no order that means anything.
    """
    if len(names) < 2 and not source.by_name:
        raise InputError(f"{source.path} has {len(names)} column and two are needed: {', '.join(names)}")
    places = place_fields(names, len(names), source, source.path)
    found = [(field, place) for field, place in zip(source.fields, places, strict=True) if place is not None]
    if not merged:
        found.sort(key=lambda one: one[1] if one[0].optional else -1)
    return found, _notice(source, names, places)


def shows_files(source: TableSource, resolved: Resolved) -> bool:
    """Return whether a reject names its file, below the path of the table."""
    return len(resolved.files) > 1 or resolved.files[0].shown != source.path


def wrong_type(name: str, kind: str, field: Field, source: TableSource) -> InputError:
    """Return the error about a column whose type a field cannot have."""
    wanted = f"it must be {MEANINGS.get(field.kind, f'one of {ROLE}')}"
    if field.kind == "text":
        more = "" if source.by_name else ", so convert it or choose another column"
        wanted = f"identifiers are strings, integers or decimals{more}"
    return InputError(f"column {name!r} of {source.path} has type {kind}: {wanted}")


def _notice(source: TableSource, names: Sequence[str], places: tuple[int | None, ...]) -> str | None:
    """Return a notice about columns that nobody named, as for text."""
    if source.by_name or (source.first, source.second) != (None, None):
        return None
    used = [names[place] for place in places[:2] if place is not None]
    if set(used) == set(source.names):
        return None
    told = ", ".join(f"{column!r} as {name}" for column, name in zip(used, source.names, strict=True))
    options = source.options
    return f"{source.path}: columns used: {told}; choose others with {options.first} and {options.second}"
