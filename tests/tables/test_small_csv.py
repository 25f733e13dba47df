"""The one reader of small CSV files: what is refused, with the line it stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.errors import InputError
from topicloom.tables.small_csv import read_rows


def put(folder: Path, data: bytes) -> Path:
    (folder / "a.csv").write_bytes(data)
    return folder / "a.csv"


def test_rows_keep_their_order_and_their_lines(tmp_path: Path) -> None:
    path = put(tmp_path, b'\xef\xbb\xbfb,a,c\r\n1,"x\ny",\r\n\r\n2, z ,3\n')
    found = [(row["a"], row["b"], row["c"], row["d"], row.where) for row in read_rows(path, "ab", "cd")]
    assert found == [("x\ny", "1", "", "", f"{path} line 3"), (" z ", "2", "3", "", f"{path} line 5")]


def test_unknown_columns_are_refused_unless_somebody_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, b"a,x,y\n1,2,3\n")
    with pytest.raises(InputError, match="a column 'x' which has no meaning here; the columns are a,b"):
        list(read_rows(path, "a", "b"))
    told: list[str] = []
    assert [row["a"] for row in read_rows(path, "a", "b", option="--hosts", notice=told.append)] == ["1"]
    assert told == [f"--hosts {path}: column x, y is not used"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "has no column 'a': its first line must be a header such as a,b, but the file is empty;"),
        (b"a;b\n1;2\n", "header such as a,b, not 'a;b'; it may also name c"),
        (b"a,b,a\n", "has a column 'a' twice; the columns are a,b,c"),
        (b"a,b\n1\n", "line 2: it has 1 fields and the header has 2"),
        (b'a,b\n1,"2\n', "line 2: it is not sound CSV"),
        (b"a,b\n\xe4,1\n", "is not UTF-8 (byte 4); save it as a UTF-8 CSV file"),
        (b"a,b\n,1\n", "line 2: a is empty"),
        (b"a,b\n1,x\n", "line 2: b is 'x' where a number of seconds is needed"),
        (b"a,b\n1,-1\n", "line 2: b is '-1', but it must be at least 0 and finite"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = put(tmp_path, data)
    with pytest.raises(InputError) as refused:
        for row in read_rows(path, "ab", "c"):
            row.filled("a"), row.seconds("b")
    assert str(refused.value).startswith(str(path)) and sentence in str(refused.value)
