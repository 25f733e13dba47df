"""The table `-`: standard input, kept in a file while a command runs, so that everybody can read it twice."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import mkdtemp

from topicloom.errors import UsageError

SIGN, SHOWN = "-", "standard input"
_kept: ContextVar[dict[str, str] | None] = ContextVar("kept", default=None)


@contextmanager
def input_kept() -> Iterator[None]:
    """Keep what a command takes from standard input until it ends."""
    kept: dict[str, str] = {}
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)
        for path in kept.values():
            shutil.rmtree(Path(path).parent, ignore_errors=True)


def path_of(word: str, what: str) -> tuple[str, str | None]:
    """Return what a table is called and, for standard input, where its bytes lie; `what` takes it all."""
    kept = _kept.get()
    if word != SIGN or kept is None:
        return word, None
    if what not in kept:
        if kept:
            raise UsageError(f"{what} -: {next(iter(kept))} is standard input already, and only one can be")
        if sys.stdin is None:
            raise UsageError(f"{what} -: standard input is closed")
        kept[what] = str(Path(mkdtemp(prefix="topicloom-")) / "input")
        with open(kept[what], "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    return SHOWN, kept[what]
