"""From the names of fields to the words of the command line.

Messages from below name what the caller gave by its Python name in backticks: `seed`, `backups=0`. Python
callers read them as they are. Here they become options of the command that runs: `--seed`, `--backups 0`, and
`KIND dot` for an argument, and `--set work=5` for a parameter of an algorithm, which always has a value.
What stands in quotes is the user's own and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from topicloom.errors import TopicloomError

FIELD = re.compile(
    r"""`(?P<name>[a-z][a-z0-9_]*)(?:=(?P<value>.*?))?`(?![\w`])"""
    r"""|(?<!\w)'(?:\\.|[^'\\])*'(?!\w)|(?<!\w)"(?:\\.|[^"\\])*"(?!\w)"""
)

_options: ContextVar[Collection[str]] = ContextVar("options", default=())


@contextmanager
def options_are(options: Collection[str]) -> Iterator[None]:
    """Let messages name these options while the block runs, also that of an error which ends it."""
    token = _options.set(options)
    try:
        yield
    except TopicloomError as error:
        error.args = (in_options(str(error)),)
        raise
    finally:
        _options.reset(token)


def in_options(text: str) -> str:
    """Return the message with every field as an option of the running command.

    >>> with options_are(["--backups", "--no-header", "--set"]):
    ...     in_options("`backups=0`, `header=False`, `work=5`: see `backups`")
    '--backups 0, --no-header, --set work=5: see --backups'
    """
    return FIELD.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    written, name, value = found[0], found["name"], found["value"]
    if name is None:
        return written
    options = _options.get()
    word = name.rstrip("_").replace("_", "-")
    if value == "False" and f"--no-{word}" in options:
        return f"--no-{word}"
    for option in (f"--{word}", f"--{word}s"):  # `compare --algorithms` takes several of one kind
        if option in options:
            return option if value in (None, "True") else f"{option} {value}"
    if word.upper() in options:
        return word.upper() if value is None else f"{word.upper()} {value}"
    if "--set" in options and value is not None:
        return f"--set {name.rstrip('_')}={value}"
    return written
