"""What is told of a table that Spark has written, wherever that was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import Column

Run: TypeAlias = Callable[[Callable[[], Any]], Any]  # an action, run so that the user sees how far it is
Counts: TypeAlias = "tuple[Column, Column, Column]"  # aggregates: rows, bytes of names, the largest value


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows the tasks have written of a table, how many bytes its names have, its largest value."""

    rows: int
    octets: int = 0
    most: int = 0
    sizes: Mapping[int, int] = field(default_factory=dict, compare=False)  # rows of each partition
