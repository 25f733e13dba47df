"""Files as Connect shows them, asked for in a session where Hadoop can say the same."""

from __future__ import annotations

import pytest

from topicloom.errors import InputError
from topicloom.tables.source import interest_source
from topicloom.tables.spark import table_files
from topicloom.tables.spark.connect_files import ConnectFiles, first_lines, read_ends, read_file
from topicloom.tables.table_files import Listing, Look
from topicloom.tables.table_files import resolve as resolve_by


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a b") / "c[1]{x}"
    for name in (
        "t.csv",
        "a+b%41 #?.csv",
        "day=1%2F2/p.csv",
        "day=1%2F2/deep/er/q.csv",
        "day=1%2F2/_log/0.json",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"node,topic\n{name},y\r")
    for name in ("_files.json", ".hidden", "empty.csv"):
        (folder / name).touch()
    (folder / "bare").mkdir()
    return folder


def seen(listing: Listing) -> list[tuple[str, bool]]:
    """What Spark shows of a folder."""
    hidden = ("_", ".", "empty.csv", "bare")
    return [entry for entry in listing.entries if not entry[0].startswith(hidden)]


@pytest.mark.parametrize("path", ["", "/", "/../c[1]{x}//", "/t.csv", "/a+b%41 #?.csv", "/day=1%2F2"])
def test_it_lists_what_hadoop_lists(spark, folder, path):
    address = f"file://{folder}{path}"
    sizes: dict[str, tuple[int, int]] = {}
    files = ConnectFiles(spark)
    found, wanted = files.listing(address), table_files._list_hadoop(spark, address, sizes)
    assert (found.path, found.is_folder, list(found.entries)) == (wanted.path, wanted.is_folder, seen(wanted))
    assert {name: status for name, status in sizes.items() if status[0] and "/_" not in name}.items() <= (
        files.statuses.items()
    )
    for name, is_folder in found.entries:  # known already
        inside = ConnectFiles(None, files.statuses, files.folders).look(f"{found.path}/{name}")
        assert not is_folder or seen(table_files._list_hadoop(spark, inside.path, {})) == list(inside.entries)


def test_what_is_not_there_or_is_another_format(spark, folder, tmp_path):
    with pytest.raises(InputError, match=r"no such file or folder: file:.*nowhere"):
        ConnectFiles(spark).listing(f"file://{folder}/nowhere")
    assert ConnectFiles(spark).look(f"file://{folder}/nowhere") is None
    assert ConnectFiles(spark).listing(f"file://{folder}/bare").entries == ()
    with pytest.raises(InputError, match="lies where Spark runs, on another machine: give its whole path"):
        ConnectFiles(spark).listing("t.csv")
    for log in ("plain/_delta_log", "[a]/.hoodie"):
        (tmp_path / log).mkdir(parents=True)
        (tmp_path / log / "0.json").write_text("{}")
        (tmp_path / log).with_name("t.parquet").write_bytes(b"x")
        look = Look(ConnectFiles(spark).listing)
        with pytest.raises(InputError, match="is a (Delta|Hudi) table"):
            resolve_by(interest_source(f"file://{(tmp_path / log).parent}"), look)


def test_the_ends_of_a_file(spark, folder, tmp_path):
    path = f"file://{folder}/a+b%41 #?.csv"
    content = b"node,topic\na+b%41 #?.csv,y\r"
    assert read_file(spark, path) == content
    assert read_ends(spark, path, 6) == (b"node,t", b"\r")
    (tmp_path / "long.csv").write_bytes(b"\xff\r,x\n" * 1000 + b"end,y")
    *first, last = first_lines(spark, f"file://{tmp_path}/long.csv")
    assert first == [(b"\xff\r,x\n" * 200, False)]
    assert last == (b"\xff\r,x\n" * 1000 + b"end,y\n", True)
