"""The rules of a line: if one of these fails, identifiers are changed or bad rows are taken for good ones."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.tables import naive_lines, naive_pair, naive_records
from topicloom.tables.lines import BOM, BadRow, cut_records, printable, without_line_end
from topicloom.tables.parse_text import parse_content, parse_lines
from topicloom.tables.records import Field, FilePlan, Keys, Layout, Value, read_record
from topicloom.tables.source import INTEREST


def plan(layout: Layout | Keys, fields: tuple[Field, ...] = INTEREST, **choices: bool) -> FilePlan:
    return FilePlan("f", None, fields, layout, **choices)


CSV = plan(Layout(b",", True, 2, (0, 1, None, None)))
TSV = plan(Layout(b"\t", False, 2, (0, 1, None, None)))
FULL = plan(Layout(b",", True, 4, (0, 1, 2, 3)))
KEYS = plan(Keys(("node", "topic", "role", "rate")))


@pytest.mark.parametrize(
    ("line", "table", "first"),
    [
        (b'"""Weird Al"" Yankovic",x', CSV, '"Weird Al" Yankovic'),
        (b'"Weird Al" Yankovic\tx', TSV, '"Weird Al" Yankovic'),
        (b" x,y", CSV, " x"),
        (b"08001,y", CSV, "08001"),
        (b"#####,y", CSV, "#####"),
        (b"NaN,y", CSV, "NaN"),
        (b'"a,b",y', CSV, "a,b"),
        (b"a\rb,y", CSV, "a\rb"),
        (b"a\x00b,y", CSV, "a\x00b"),
        ("e\u0301,y".encode(), CSV, "e\u0301"),
        ("\u00e9,y".encode(), CSV, "\u00e9"),
        (b"a,b\ty", TSV, "a,b"),
    ],
)
def test_an_identifier_survives_unchanged(line: bytes, table: FilePlan, first: str) -> None:
    assert read_record(line, table)[0] == first


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "empty"),
        (b"a", "too few"),
        (b"a,b,c", "too many"),
        (b",b", "node is empty"),
        (b"a,", "topic is empty"),
        (b'"",b', "node is empty"),
        (b"a\xff,b", "UTF-8 at byte 2"),
        (b"a\xed\xa0\x80,b", "UTF-8"),
        (b'"a,b', "never closed"),
        (b'"a"x,b', "follows a closing quote"),
        (b'a"b,c', "not quoted"),
    ],
)
def test_a_bad_line_is_refused_with_its_reason(line: bytes, reason: str) -> None:
    with pytest.raises(BadRow, match=reason):
        read_record(line, CSV)


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (b"a,b,sub,1", ["a", "b", "sub", 1.0]),
        (b"a,b,both,.5e1", ["a", "b", "both", 5.0]),
        (b"a,b,pub,0", ["a", "b", "pub", 0.0]),
        (b"a,b,sub,+2", ["a", "b", "sub", 2.0]),
    ],
)
def test_role_and_rate_are_read(line: bytes, row: list[Value]) -> None:
    assert read_record(line, FULL) == row
    assert _fast([line], FULL) == [tuple(row)]


@pytest.mark.parametrize(
    "tail",
    [
        b"SUB,1",
        b" sub,1",
        b"sub,-1",
        b"sub,nan",
        b"sub,inf",
        b"sub,1e999",
        b"sub,1_0",
        b"sub, 1",
        b"sub,0x1",
        "sub,\u0661".encode(),
    ],
)
def test_a_wrong_role_or_rate_refuses_the_row(tail: bytes) -> None:
    line = b"a,b," + tail
    with pytest.raises(BadRow, match=r"role|rate"):
        read_record(line, FULL)
    assert _fast([line], FULL) == [None]


def test_an_empty_role_or_rate_is_a_missing_one() -> None:
    lines = [b"a,b,,", b"a,b,sub,", b"a,b,,1", b'"a",b,"",""']
    expected = [
        ("a", "b", None, None),
        ("a", "b", "sub", None),
        ("a", "b", None, 1.0),
        ("a", "b", None, None),
    ]
    assert [tuple(read_record(line, FULL)) for line in lines] == expected == _fast(lines, FULL)


def test_of_a_refused_row_the_names_are_kept_that_can_be_read() -> None:
    lines = [b"a,b,x,", b"a,\xff,,", b",b,,", b"a,b", b'"a,b,,', b"\xff,\xff,,"]
    expected = [("a", "b"), ("a", None), (None, "b"), ("a", None), (None, None), (None, None)]
    rows = [row for batch in parse_lines(pa.array(lines, pa.binary()), FULL) for row in batch.to_pylist()]
    assert [(row["node"], row["topic"]) for row in rows] == expected
    assert all(row["_reason"] for row in rows)


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (b'{"node": "a", "topic": "t"}', "a"),
        (b'{"topic": "t", "node": 1.0}', "1.0"),
        (b'{"node": 1e3, "topic": "t"}', "1e3"),
        (b'{"node": 123456789012345678901234567890, "topic": "t"}', "123456789012345678901234567890"),
        (b'{"node": -0, "topic": "t", "else": [{"node": 2}]}', "-0"),
        (b'{"node": "\\ud83d\\ude80\\u0000", "topic": "t"}\r', "🚀\x00"),
        (b'{"node": " x", "topic": "t", "node2": null}', " x"),
    ],
)
def test_json_values_keep_their_text(line: bytes, first: str) -> None:
    assert read_record(line, KEYS) == [first, "t", None, None]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "empty"),
        (b"{", "malformed JSON"),
        (b'{"node": NaN, "topic": "t"}', "malformed JSON"),
        (b'{"node": "a", "topic": "t"} x', "malformed JSON"),
        (b'["a", "t"]', "not a JSON object"),
        (b'{"node": "a"}', "'topic' is missing"),
        (b'{"node": true, "topic": "t"}', "true or false"),
        (b'{"node": null, "topic": "t"}', "null"),
        (b'{"node": {}, "topic": "t"}', "an object"),
        (b'{"node": [], "topic": "t"}', "an array"),
        (b'{"node": "", "topic": "t"}', "empty"),
        (b'{"node": "\\ud800", "topic": "t"}', "surrogate"),
        (b'{"node": "a\xff", "topic": "t"}', "UTF-8"),
        (b'{"node": "a", "node": "b", "topic": "t"}', "twice"),
        (b'{"node": "a", "topic": "t", "role": "x"}', "role"),
        (b'{"node": "a", "topic": "t", "rate": -1}', "rate"),
        (b"[" * 100_000, "malformed JSON"),
    ],
)
def test_bad_json_is_refused_with_its_reason(line: bytes, reason: str) -> None:
    with pytest.raises(BadRow, match=reason):
        read_record(line, KEYS)


def test_a_key_written_twice_matters_only_where_it_is_used() -> None:
    assert read_record(b'{"node": "a", "topic": "t", "z": 1, "z": 2}', KEYS) == ["a", "t", None, None]


def test_null_as_role_or_rate_of_json_means_that_there_is_none() -> None:
    line = b'{"node": "a", "topic": "t", "role": null, "rate": null}'
    assert read_record(line, KEYS) == ["a", "t", None, None]
    with pytest.raises(BadRow, match="twice"):
        read_record(b'{"node": "a", "topic": "t", "role": "sub", "role": null}', KEYS)


def test_role_and_rate_of_json() -> None:
    line = b'{"node": "a", "topic": "t", "role": "both", "rate": 1e1}'
    assert read_record(line, KEYS) == ["a", "t", "both", 10.0]
    assert read_record(line, plan(Keys(("node", "topic")), INTEREST[:2])) == ["a", "t"]
    # A key that the user chose for a node or a topic means nothing else.
    assert read_record(line, plan(Keys(("node", "role", None, "rate")))) == ["a", "both", None, 10.0]


def test_only_one_carriage_return_belongs_to_the_line_end() -> None:
    assert without_line_end(b"a,b\r\r") == b"a,b\r"


def test_invalid_bytes_are_shown_as_escapes() -> None:
    assert printable(b"\xc3\xa9\xff") == "é\\xff"


LINES = st.lists(
    st.one_of(
        st.lists(
            st.sampled_from([b"a", b'"', b",", b"\r", b"\t", b"\xff", "é".encode(), b"\x00"]), max_size=9
        ).map(b"".join),
        st.binary(max_size=6).filter(lambda raw: b"\n" not in raw),
        st.just(b"n1,t1"),
    ),
    min_size=1,
    max_size=12,
)


@given(LINES, st.sampled_from([2, 3]), st.booleans())
@examples(300)
def test_fast_and_careful_splitting_agree_with_the_naive_reader(
    lines: list[bytes], n: int, quote: bool
) -> None:
    table = plan(Layout(b",", quote, n, (0, 1, None, None)))
    expected = [naive_pair(line.removesuffix(b"\r"), ",", quote, n) for line in lines]
    assert [_careful(line, table) for line in lines] == expected
    fast = [None if row is None else row[:2] for row in _fast(lines, table)]
    assert sorted(fast, key=str) == sorted(expected, key=str)


FIELDS = st.text(st.sampled_from('a,"\n\r'), max_size=5)


@given(st.lists(st.lists(FIELDS, min_size=2, max_size=2), max_size=6))
@examples(200)
def test_quoted_newlines_stay_inside_their_record(rows: list[list[str]]) -> None:
    quoted = [",".join('"' + field.replace('"', '""') + '"' for field in row) for row in rows]
    data = "".join(row + "\n" for row in quoted)
    assert [record.decode() for record in cut_records(data.encode(), b",")] == naive_records(data) == quoted


@given(st.lists(st.sampled_from([b"a", b'"', b",", b"\n", b"\r"]), max_size=20).map(b"".join))
@examples(200)
def test_cutting_any_bytes_loses_nothing_and_ends(data: bytes) -> None:
    records = list(cut_records(data, b","))
    assert b"\n".join(records) + (b"\n" if data.endswith(b"\n") and records else b"") in (data, data + b"\n")


def test_a_malformed_record_costs_only_itself() -> None:
    data = b'a,"x"y\nb,z\n"q"r,"s\nt"\nc,d\n'
    assert list(cut_records(data, b","))[:2] == [b'a,"x"y', b"b,z"]
    assert list(cut_records(data, b","))[-1] == b"c,d"


@given(
    st.lists(st.sampled_from([b"a", b",", b"\r", b"\n", b"\r\n", b"b,c", BOM]), max_size=30).map(b"".join),
    st.integers(1, 7),
    st.booleans(),
)
@examples(300)
def test_lines_are_the_same_however_the_file_comes(data: bytes, size: int, header: bool) -> None:
    """Chunks cut anywhere, also inside the mark and between `\\r` and `\\n`; the last `\\r` is a field's."""
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    expected = [naive_pair(line, ",", False, 2) for line in naive_lines(data)[int(header) :]]
    table = plan(Layout(b",", False, 2, (0, 1, None, None)), header=header)
    found = [
        (row["node"], row["topic"]) if row["_reason"] is None else None
        for batch in parse_content(iter(chunks), table)
        for row in batch.to_pylist()
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)


def _careful(line: bytes, table: FilePlan) -> tuple[Value, Value] | None:
    try:
        first, second, _, _ = read_record(without_line_end(line), table)
    except BadRow:
        return None
    return first, second


def _fast(lines: list[bytes], table: FilePlan) -> list[tuple[object, ...] | None]:
    """What a worker makes of these lines, rejects as None."""
    found: list[tuple[object, ...] | None] = []
    for batch in parse_lines(pa.array(lines, pa.binary()), table):
        for row in batch.to_pylist():
            if row["_reason"] is None:
                found.append((row["node"], row["topic"], row["role"], row["rate"]))
            else:
                assert row["_file"] == "f"
                found.append(None)
    return found
