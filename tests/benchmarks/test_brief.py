"""The brief run: five minutes, and each figure beside the last one."""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness import Figure, Row, section

from benchmarks import __main__ as program
from benchmarks import brief


def test_what_results_hold_is_found_again():
    """Otherwise every figure would stand beside `none`, and nobody would see it grow."""
    rows = [
        Row("first", "small", {"time": Figure(2, "s", 1), "edges": "7"}),
        Row("second", "large", {"memory": Figure(3, "MB")}),
        Row("second", "huge", not_run="no room"),
    ]
    last = brief.read_last(section("speed", "how fast", "make", rows))
    lines = list(brief.beside_last("speed", rows, last))
    assert lines == [
        "small, time: 2 s (asked 1: MISSED); last 2 s (asked 1: MISSED)",
        "large, memory: 3 MB; last 3 MB",
        "huge: NOT RUN: no room",
    ]
    assert list(brief.beside_last("other", rows[:1], last)) == [
        "small, time: 2 s (asked 1: MISSED); last none"
    ]


def test_a_case_of_several_tables_stands_beside_its_own_row():
    """Otherwise a search would be judged by the figures of the run without one."""
    rows = [
        Row("searched", "small", {"time": Figure(9, "s")}),
        Row("at once", "small", {"time": Figure(2, "s")}),
    ]
    last = brief.read_last(section("speed", "how fast", "make", rows))
    lines = [line for row in rows for line in brief.beside_last("speed", [row], last)]
    assert lines == ["small, time: 9 s; last 9 s", "small, time: 2 s; last 2 s"]


def test_no_case_begins_once_the_time_is_up():
    times = iter([0.0, 1.0, 9.0])
    measured = []

    def rows():
        for case in ("a", "b", "c"):
            measured.append(case)
            yield Row("t", case)

    found = list(brief.while_time(rows(), 5.0, lambda: next(times)))
    assert measured == ["a", "b"]
    assert [row.case for row in found] == ["a", "b", "the rest"]


def test_the_page_lists_every_benchmark():
    listed = (Path(program.__file__).with_name("README.md")).read_text(encoding="utf-8")
    assert [name for name in program.names() if f"\n| {name} |" not in listed] == []
    assert set(brief.NAMES) <= set(program.names())
