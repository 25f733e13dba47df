"""What all registries share: a table by name, one entry per line, one sentence for an unknown name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from topicloom.errors import UsageError

E = TypeVar("E")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What there is to say of anything that is chosen by name."""

    aim: str
    complexity: str = ""
    paper: str = "none"
    seeded: bool = False


def find(field: str, table: Mapping[str, E], name: str) -> E:
    """Return the entry called `name`; a UsageError about `field` lists all names if there is none.

    >>> find("kind", {"dot": 1}, "dot")
    1
    """
    if name not in table:
        raise UsageError(f"`{field}={name}`: choose one of {', '.join(table)}")
    return table[name]
