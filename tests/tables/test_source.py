"""What can be said of a table without reading it."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.tables.source import SMALL_BYTES, are_small


def test_small_tables_are_told_by_the_sizes_of_all_their_files(tmp_path: Path) -> None:
    """A large one on a JVM for small ones would take twice its time."""
    large, small = tmp_path / "large.csv", tmp_path / "parts" / "a.csv"
    small.parent.mkdir()
    small.write_bytes(b"node,topic\n")
    with large.open("wb") as file:
        file.truncate(SMALL_BYTES + 1)
    assert are_small(str(small)) and are_small(str(small), str(small.parent))
    assert not are_small(str(large)) and not are_small(str(small), str(large))
    large.rename(small.parent / "b.csv")
    assert not are_small(str(small.parent))


@pytest.mark.parametrize("name", ["table.csv.gz", "table.parquet"])
def test_compressed_tables_count_as_what_they_hold(tmp_path: Path, name: str) -> None:
    """Four million rows of Parquet have 8 MiB, and take ten times as long without compiled queries."""
    table = tmp_path / name
    with table.open("wb") as file:
        file.truncate(SMALL_BYTES // 9)
    assert not are_small(str(table))


def test_nothing_is_known_of_an_address() -> None:
    assert not are_small("s3a://bucket/table.csv")


def test_of_a_query_nobody_knows_how_much_it_holds_and_it_is_no_path():
    assert not are_small("table:plant.caps") and not are_small(f"sql:SELECT '{'x' * 5000}' node")
