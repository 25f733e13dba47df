"""A run in phases whose tables stay with the executors and whose records stay in this process.

Nobody can take it up again; it needs no place that this machine and the executors share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from topicloom.base.summaries import to_json
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.model.run import Attempt, Run, Told
from topicloom.tables.spark.kept_place import KeptStore


class KeptRun(Run):
    """The phases of a run; `tables` says where those of the result are."""

    def __init__(self, store: KeptStore, shown: str, now: Callable[[], float], told: Told) -> None:
        super().__init__(shown, store.root, now, told)
        self.tables: dict[str, str] = {}
        self._store = store
        self._records: dict[str, bytes] = {}

    def whole(self) -> list[str]:
        return list(self._records)

    def read_record(self, name: str) -> bytes | None:
        return self._records.get(name)

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        folder = f"{self._store.root}/{name}"

        def commit(record: dict[str, Any]) -> None:
            self._records[name] = to_json(record)

        try:
            yield Attempt(folder, commit)
        except BaseException:
            self._store.drop(folder)
            raise

    def path(self, name: str, table: str) -> str:
        return f"{self._store.root}/{name}/{table}"

    def forget(self) -> None:
        self._records.clear()

    def finish(self, summary: BuildSummary, tables: Mapping[str, tuple[str, str]]) -> BuildSummary:
        self.tables = {name: self.path(*place) for name, place in tables.items()}
        return summary
