"""A run in phases, so that one that was killed can go on: what every place for it has in common.

A phase leaves tables and a record; the record is what makes it whole. Places: `run_folder.py` is a folder of
this machine, `overlay/spark/run_address.py` a folder behind an address.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

import msgspec

from topicloom.base.summaries import Summary, plain, to_json
from topicloom.errors import InputError
from topicloom.overlay.model.build import BuildSummary

Told = Callable[[str, float], None]
R = TypeVar("R", bound=Summary)
Request = Mapping[str, Any]


class TablesOnly(Summary, frozen=True):
    """The record of a phase that leaves tables and nothing to say of them."""


class TimedRecord(Summary, frozen=True):
    """What every record has besides its own keys."""

    seconds: float
    spark: dict[str, int | float] = msgspec.field(default_factory=dict)


class Attempt(NamedTuple):
    """One try at a phase: the folder for its tables, and what makes it whole when all of them are there."""

    folder: str
    commit: Callable[[dict[str, Any]], None]


class Run(ABC):
    """The phases of one run; `keep` is how work is done once.

    `where` is what to remove to begin anew; an error about its tables has `mark` in it. `measure`, where it
    is set, tells what was done on Spark since it was last called; records keep it.
    """

    def __init__(self, where: str, mark: str, now: Callable[[], float], told: Told) -> None:
        self.where = where
        self.mark = mark
        self.measure: Callable[[], Summary] | None = None
        self._now = now
        self._told = told

    def record(self, name: str, kind: type[R]) -> R | None:
        """Return what a whole phase left behind; None if it is not whole."""
        content = self.read_record(name)
        if content is None:
            return None
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise InputError(
                f"the record of phase {name} is damaged: remove {self.where} and begin anew"
            ) from None

    def keep(self, name: str, kind: type[R], work: Callable[[str], R]) -> R:
        """Return the record of phase `name`: of an earlier run if it is whole, else of `work(folder)`."""
        known = self.record(name, kind)
        if known is not None:
            return known
        start = self._now()
        with self.attempt(name) as attempt:
            record = work(attempt.folder)
            seconds = self._now() - start
            done = {} if self.measure is None else {"spark": plain(self.measure())}
            attempt.commit({**plain(record), "seconds": seconds, **done})
        self._told(name, seconds)
        return record

    def require(self, name: str, kind: type[R]) -> R:
        """Return the record of a phase that must be whole by now."""
        record = self.record(name, kind)
        if record is None:
            raise InputError(f"phase {name} is gone from {self.where}: remove it and begin anew")
        return record

    def seconds(self) -> dict[str, float]:
        """Return how long each whole phase took, in whichever run that was."""
        return {name: self.require(name, TimedRecord).seconds for name in self.whole()}

    def spark(self) -> dict[str, dict[str, int | float]]:
        """Return what each whole phase did on Spark, in whichever run that was."""
        return {name: self.require(name, TimedRecord).spark for name in self.whole()}

    @abstractmethod
    def whole(self) -> list[str]:
        """Return the phases that are whole, in the order they were finished."""

    @abstractmethod
    def read_record(self, name: str) -> bytes | None:
        """Return the record of a phase; None if it is not whole."""

    @abstractmethod
    def attempt(self, name: str) -> AbstractContextManager[Attempt]:
        """Begin a phase; what it has written is removed where it fails."""

    @abstractmethod
    def path(self, name: str, table: str) -> str:
        """Return where a whole phase has left a table."""

    @abstractmethod
    def forget(self) -> None:
        """Remove all phases: what was asked for cannot be done, and nobody is to take it up."""

    @abstractmethod
    def finish(self, summary: BuildSummary, tables: Mapping[str, tuple[str, str]]) -> BuildSummary:
        """Make a result of tables (by their names there: a phase and its table); return its summary."""


def check_same(begun: bytes | None, request: Request, *, out: str, root: str, parts: bool = False) -> None:
    """Refuse to take up the unfinished run in `out` for another request, or for other `parts` of one."""
    try:
        before = msgspec.json.decode(begun or b"", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"request.json in {root} is damaged: remove {root} and begin anew") from None
    now = msgspec.json.decode(to_json(request), type=dict[str, Any])
    for key in sorted(now if parts else {*before, *now}):
        if before.get(key) != now.get(key):
            one, other = _difference(before.get(key), now.get(key))
            raise InputError(
                f"`resume`: the run in {out} was begun with another {key} ({one}, now {other}); give the "
                f"same, or remove {root} to begin anew"
            )


def _difference(before: Any, after: Any) -> tuple[str, str]:
    """Return two values that differ as text; of long lists and tables the first parts that do."""
    if isinstance(before, list) and isinstance(after, list):
        for one, other in zip(before, after, strict=False):
            if one != other:
                return _difference(one, other) if isinstance(one, dict) else (_text(one), _text(other))
        return f"{len(before)} of them", f"{len(after)}"
    if isinstance(before, dict) and isinstance(after, dict):
        key = next(key for key in sorted({*before, *after}) if before.get(key) != after.get(key))
        return f"{key} {_text(before.get(key))}", _text(after.get(key))
    return _text(before), _text(after)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
