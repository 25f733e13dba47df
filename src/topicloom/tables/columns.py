"""Which columns of a file hold the fields of its table: by name, by position, or because there are just two.

Nobody guesses which of more columns hold an interest; of an edge table it is the first two.
"""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.errors import InputError
from topicloom.tables.records import require_columns
from topicloom.tables.source import TableSource


def place_fields(
    columns: Sequence[str] | None, count: int, source: TableSource, shown: str
) -> tuple[int | None, ...]:
    """Return the position (from 0) of each field's column, None for an optional one that is not there.

    `columns` is None when the file has no header.
    """
    if source.by_name:
        there = columns or ()
        require_columns(shown, source.fields, there)
        for field in source.fields:
            if there.count(field.name) > 1:
                raise InputError(f"{shown} has more than one column {field.name!r}")
        return tuple(there.index(field.name) for field in source.fields)
    pair = choose_columns(columns, count, source, shown)
    others: list[int | None] = []
    for field in source.fields[2:]:
        place = columns.index(field.name) if columns and field.name in columns else None
        others.append(None if place in pair else place)
    return (*pair, *others)


def choose_columns(
    columns: Sequence[str] | None, count: int, source: TableSource, shown: str
) -> tuple[int, int]:
    """Return positions of the first two fields, which the user may choose."""
    if count < 2:
        raise InputError(
            f"{shown} has one column and two are needed: check {source.options.separator} "
            f"and {source.options.no_header}"
        )
    wanted = (source.first, source.second)
    options = (source.options.first, source.options.second)
    chosen = [
        None if want is None else _position(want, columns, count, shown, option, source)
        for want, option in zip(wanted, options, strict=True)
    ]
    if source.what == "interest" and count > 2:
        _refuse_guess(chosen, columns, count, source, shown)
    first, second = _fill_in(chosen, columns, source)
    if first == second:
        raise InputError(f"{shown}: {options[0]} and {options[1]} name the same column, number {first + 1}")
    return first, second


def _refuse_guess(
    chosen: list[int | None], columns: Sequence[str] | None, count: int, source: TableSource, shown: str
) -> None:
    """Refuse a table of more than two columns where one of the two is neither chosen nor known by name."""
    unknown = [
        name
        for name, place in zip(source.names, chosen, strict=True)
        if place is None and (columns is None or name not in columns)
    ]
    if not unknown:
        return
    options = source.options
    choose = " and ".join(
        option for option, place in zip((options.first, options.second), chosen, strict=True) if place is None
    )
    if columns is None:
        raise InputError(
            f"{shown} has {count} columns and no header that says which are {' and '.join(unknown)}: give "
            f"{choose}, as positions from 1 to {count}"
        )
    raise InputError(
        f"{shown} has {count} columns and none is called {' or '.join(unknown)}: its columns are "
        f"{', '.join(columns)}{_case_told(unknown, columns)}; choose with {choose}"
    )


def _case_told(wanted: Sequence[str], columns: Sequence[str]) -> str:
    """Return a word on a column that is called so but for its case, which always counts."""
    near = next((own for name in wanted for own in columns if own.lower() == name.lower()), None)
    return "" if near is None else f"; case counts, so {near!r} is another one"


def _fill_in(chosen: list[int | None], columns: Sequence[str] | None, source: TableSource) -> tuple[int, int]:
    """Choose columns that were not named: both default names if they are there, else of the first two."""
    first, second = chosen
    named = [columns.index(name) if columns and name in columns else None for name in source.names]
    if first is not None and second is not None:
        return first, second
    if first is None and second is None:
        if named[0] is not None and named[1] is not None:
            return named[0], named[1]
        # One default name among the first two settles which of the two is which.
        return (1, 0) if named[0] == 1 or named[1] == 0 else (0, 1)
    if first is None:
        assert second is not None
        return (named[0] if named[0] is not None else int(second == 0)), second
    return first, (named[1] if named[1] is not None else int(first != 1))


def _position(
    want: str, columns: Sequence[str] | None, count: int, shown: str, option: str, source: TableSource
) -> int:
    if columns is not None and want in columns:
        return columns.index(want)
    if want.isascii() and want.isdigit():
        if 1 <= int(want) <= count:
            return int(want) - 1
        raise InputError(f"{shown} has {count} columns: {option} {want} is not a position from 1 to {count}")
    if columns is None:
        raise InputError(
            f"{shown} is read without a header, so {option} {want!r} must be a position from 1 to {count}: "
            f"leave out {source.options.no_header} if it has one"
        )
    raise InputError(
        f"{shown} has no column {want!r} ({option}): its columns are {', '.join(columns)}"
        f"{_case_told([want], columns)}"
    )
