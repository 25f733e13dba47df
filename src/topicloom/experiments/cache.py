"""Figures of repetitions, kept in a folder: a run that was interrupted goes on where it ended.

A repetition is known by its task, settings and seed, and by the sources that decide its figures: after a
change of an algorithm nothing old is used.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import topicloom
from topicloom.base.atomic_write import replacing
from topicloom.experiments.model import Figures, Settings

SOURCES = ("base", "simulation", "overlay", "spidercast", "content", "experiments/tasks")
KEPT = "cache"


@dataclass(frozen=True, slots=True)
class Case:
    """One repetition."""

    task: str
    settings: Settings
    seed: int

    def text(self) -> str:
        """Return the case as JSON, always in the same order."""
        return json.dumps([self.task, self.settings, self.seed], sort_keys=True)

    def key(self) -> str:
        """Return the name under which its figures are kept."""
        return hashlib.blake2b(f"{code_digest()} {self.text()}".encode(), digest_size=16).hexdigest()


@cache
def code_digest() -> str:
    """Return a digest of the sources that decide what a repetition gives."""
    digest = hashlib.blake2b(digest_size=16)
    root = Path(topicloom.__file__).parent
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(root)} ".encode() + path.read_bytes())
    return digest.hexdigest()


class Kept:
    """The figures that a folder has; without a folder, those of this run."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / KEPT
        self._found: dict[str, Figures] = {}

    def get(self, case: Case) -> Figures | None:
        """Return the figures of a case; None where there are none, or only half of a file."""
        key = case.key()
        if key not in self._found and self._folder is not None:
            try:
                content: Any = json.loads((self._folder / f"{key}.json").read_text("utf-8"))
                self._found[key] = {str(name): float(value) for name, value in content["figures"].items()}
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                return None
        return self._found.get(key)

    def put(self, case: Case, figures: Figures) -> None:
        """Keep the figures of a case."""
        key = case.key()
        self._found[key] = figures
        if self._folder is not None:
            task, settings, seed = case.task, dict(case.settings), case.seed
            content = {"task": task, "settings": settings, "seed": seed, "figures": dict(figures)}
            with replacing(self._folder / f"{key}.json") as temporary:
                temporary.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
