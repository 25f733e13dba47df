"""Tables that Spark finds by itself: what `--table`, `--sql` and `--input-format` say of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.tables.origins import Origin

WORDS = ("table", "sql", "input_format", "option")


def named_table(
    path: str,
    word: str,
    table: str | None,
    sql: str | None,
    format: str | None,
    options: Sequence[str] | None,
    text: Mapping[str, object],
    prefix: str = "",
) -> Origin | None:
    """Return the table that options name, None if they name none.

    `path` is what `word`, an argument or option, names; `text` are the options given that tell how text is
    read; `prefix` is how options of this table begin.
    """
    if table is None and sql is None and format is None and not options:
        return None
    from topicloom.tables.origins import origin_of

    first, second, third, fourth = (f"{prefix}{one}" for one in WORDS)
    named = first if table is not None else second
    if path and (table is not None or sql is not None):
        raise UsageError(f"{word} {path} and `{named}` both name the table: give one of them")
    unused = next((name for name, value in text.items() if value), None)
    if unused is not None:
        other = third if format else named
        raise UsageError(f"`{unused}` tells how files of text are read, and `{other}` names none")
    settings = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise UsageError(f"`{fourth}={option}`: write it as key=value")
        settings[key] = value
    return origin_of(
        table=table,
        sql=sql,
        format=format,
        path=path or None,
        options=settings,
        words=(first, second, third, fourth),
    )
