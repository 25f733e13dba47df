"""What words mean as values of a field, and the records of whole files against the slow reader."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.tables import naive_table, naive_value
from topicloom.errors import InputError
from topicloom.tables.columns import place_fields
from topicloom.tables.lines import BadRow
from topicloom.tables.parse_text import parse_content, parse_lines
from topicloom.tables.records import Field, FilePlan, Layout, read_record, read_value
from topicloom.tables.source import records_source

WORDS = ["1", "-2.5", "+3", ".5", "1e3", "1e400", "nan", "inf", "-inf", " 1", "1 ", "", "x", "1_0", "0x1",
         "0", "-0", "5.", "1e", "sub", "both", "Sub",
         "1970-01-02", "1970-01-01T00:00:01", "1970-01-01T00:00:01Z", "1970-01-01 00:00:01.250",
         "1970-13-01", "1970-01-01T25:00:00", "19700102"]  # fmt: skip
KINDS = ["text", "role", "number", "amount", "cost", "bound", "time"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_means_what_the_slow_reader_says(kind: str) -> None:
    for word in WORDS:
        found = None
        with suppress(BadRow):
            found = read_value(word, Field("v", kind))
        assert found == naive_value(word, kind), word


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_and_plain_reading_of_words_agree(kind: str) -> None:
    """Each word among good ones and alone: what Arrow accepts is what the rules say, and nothing else."""
    plan = FilePlan("f", None, (Field("v", kind), Field("w")), Layout(b",", True, 2, (0, 1)))
    for words in [*([word] for word in WORDS), WORDS, ["1970-01-02", "1970-01-01T00:00:01Z"]]:
        lines = [f"{word},w{i}".encode() for i, word in enumerate(words)]
        expected = {}
        for line in lines:
            with suppress(BadRow):
                value, name = read_record(line, plan)
                expected[name] = value
        rows = [row for batch in parse_lines(pa.array(lines, pa.binary()), plan) for row in batch.to_pylist()]
        assert {row["w"]: row["v"] for row in rows if row["_reason"] is None} == expected
        assert len(rows) == len(lines)


TABLES = {
    "log": {"publisher": "text", "time": "time", "x": "number"},
    "access": {"user": "text", "broker": "text", "price": "amount"},
    "subscriptions": {"user": "text", "low": "bound", "high": "bound"},
}


@given(
    st.sampled_from(sorted(TABLES)),
    st.lists(st.lists(st.sampled_from([*WORDS, '"1"', '"a,b"', '"', "\r"]), max_size=5), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\r", "\r\n"]),
    st.randoms(use_true_random=False),
)
@examples(300)
def test_logs_and_prices_are_read_as_the_slow_reader_reads_them(table, rows, end, last, random) -> None:
    kinds = TABLES[table]
    header = random.sample([*kinds, "remark"], 4)
    data = (end.join([",".join(header), *map(",".join, rows)]) + last).encode()
    fields = tuple(Field(name, kind) for name, kind in kinds.items())
    # A lone `\\r` right behind the header is part of its last name, so that column may be missing.
    names = [*header[:-1], header[-1] + ("\r" if not rows and last == "\r" else "")]
    try:
        places = place_fields(names, 4, records_source("f", table, fields), "f")
    except InputError:
        assert names[-1] not in (*kinds, "remark")
        return
    plan = FilePlan("f", None, fields, Layout(b",", True, 4, places), header=True)
    found = [row for batch in parse_content([data], plan) for row in batch.to_pylist()]
    good, bad = naive_table(data, ",", True, kinds)
    key = repr
    assert sorted(
        (tuple(row[name] for name in kinds) for row in found if row["_reason"] is None), key=key
    ) == (sorted(good, key=key))
    assert sorted(row["_row"] for row in found if row["_reason"] is not None) == sorted(bad)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (["a", "c"], "has no column 'b', a note: its columns are a, c"),
        (["a", "b", "a"], "more than one column 'a'"),
    ],
)
def test_columns_known_by_name_must_be_there_once(columns: list[str], told: str) -> None:
    fields = (Field("a"), Field("b", "number", ", a note"))
    with pytest.raises(InputError, match=told):
        place_fields(columns, len(columns), records_source("f", "log", fields), "f")
