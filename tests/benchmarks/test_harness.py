"""The harness: judging, tables, the results file, fresh processes. Nothing here is timed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks.harness import Broken, Figure, NotRun, Options, Row, attempt, in_child, run_command

from benchmarks import __main__ as program
from benchmarks import bench_builders, harness
from topicloom.overlay.model.interest import Interest

pytestmark = pytest.mark.alone  # seconds and bytes of real processes


def test_a_figure_is_missed_only_beyond_a_fifth() -> None:
    """Otherwise `make bench` fails on noise or passes what is too slow."""
    verdicts = {0.9: "ok", 1.0: "ok", 1.2: "within 20%", 1.21: "MISSED"}
    for measured, verdict in verdicts.items():
        figure = Figure(measured, "s", 1.0)
        assert figure.missed == (verdict == "MISSED")
        assert str(figure).endswith(f"{verdict})")
    assert str(Figure(1.19, "s", 1)) == "1.19 s (asked 1: within 20%)"
    assert str(Figure(2500.0, "MB", 2000)) == "2,500 MB (asked 2000: MISSED)"
    assert not Figure(1e9, "s").missed


def test_a_case_that_cannot_run_is_no_miss_but_a_broken_one_is() -> None:
    """Otherwise a crash passes for a machine that lacks something."""

    def fails(error: Exception) -> dict[str, Figure | str]:
        raise error

    assert not attempt("t", "c", lambda: fails(NotRun("no table"))).missed
    assert attempt("t", "c", lambda: fails(Broken("crash"))).missed
    assert attempt("t", "c", lambda: fails(ZeroDivisionError("by zero"))).missed
    with pytest.raises(Broken, match="last words"):
        harness.json_of(harness.CommandRun(0.0, 0.0, 0, "", "last words"))


def test_exponents_are_fitted_on_logarithms() -> None:
    """Otherwise the growth printed is not the growth measured."""
    sizes = [2_000, 4_000, 8_000]
    assert harness.fit_exponent(sizes, [s**1.5 for s in sizes]) == pytest.approx(1.5)


def test_memory_is_what_the_work_itself_adds() -> None:
    """Otherwise a peak before the work hides its growth, or the input counts as the work's."""
    ballast = np.ones(30_000_000, dtype=np.uint8)
    del ballast
    grown = harness.measure(lambda: int(np.ones(20_000_000, dtype=np.uint8).sum()), repeats=2)
    assert grown.result == 20_000_000
    assert 15 < grown.megabytes < 35
    assert harness.measure(lambda: None, repeats=1).megabytes < 5


def test_a_child_answers_and_its_failure_names_the_reason(tmp_path: Path) -> None:
    """Otherwise a failed measurement would look like a missing one or lose its message."""
    path = tmp_path / "interest.npz"
    workload = bench_builders.drawn(40, topics=10, subscriptions="3")
    answer = in_child("bench_builders:write_workload", workload=workload, path=str(path))
    assert answer == {"nodes": 40, "subscriptions": 120}
    with pytest.raises(Broken, match="nowhere"):
        in_child("bench_builders:write_deezer", source="nowhere", path=str(path))


def test_numbers_come_back_as_the_same_interest(tmp_path: Path) -> None:
    """Otherwise the build measured is not the one of the named case."""
    interest = Interest.from_pairs([("b", "x"), ("a", "y"), ("c", "x"), ("c", "y")])
    bench_builders.write_numbers(interest, str(tmp_path / "i.npz"))
    back = bench_builders.read_numbers(str(tmp_path / "i.npz"))
    assert np.array_equal(back.node_ptr, interest.node_ptr)
    assert np.array_equal(back.topic_nodes, interest.topic_nodes)


def test_a_command_is_sampled_with_its_children() -> None:
    """Otherwise the memory of Spark's own processes would not count."""
    code = (
        "import subprocess, sys; subprocess.run([sys.executable, '-c',"
        " 'import time; b = bytearray(60_000_000); time.sleep(1)'])"
    )
    run = run_command([sys.executable, "-c", code])
    assert run.returncode == 0
    assert run.megabytes > 60


def test_a_missing_deezer_table_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the benchmarks need a file that a user has not got."""
    monkeypatch.setenv("TOPICLOOM_DATA", str(tmp_path))
    with pytest.raises(NotRun, match="TOPICLOOM_DATA"):
        bench_builders.deezer_file()


def test_the_results_file_keeps_the_sections_not_run_now(tmp_path: Path) -> None:
    """Otherwise measuring one capability wipes the figures of the others."""
    path = tmp_path / "RESULTS.md"
    row = Row("seconds", "small", {"time": Figure(1.5, "s", 1)})
    gone = Row("seconds", "large", not_run="no table")
    harness.write_results(path, {"b": harness.section("b", "two", "python -m benchmarks b", [row, gone])})
    harness.write_results(path, {"a": harness.section("a", "one", "python -m benchmarks a", [row])})
    text = path.read_text()
    assert text.index("## a: one") < text.index("## b: two")
    assert "| small | 1.5 s (asked 1: MISSED) |" in text
    assert "| large | NOT RUN: no table |" in text
    assert text.count("## ") == 4  # two sections, one table each
    assert str(Path.home()) not in text
    path.write_text(text.replace(" cores", " other cores"))
    harness.write_results(path, {"a": harness.section("a", "one", "python -m benchmarks a", [row])})
    assert "## b" not in path.read_text()  # figures of another machine do not mix with these


def test_a_table_without_any_figure_is_still_a_table() -> None:
    """Otherwise the results page breaks where nothing could run."""
    lines = list(harness.table_lines([Row("t", "c", not_run="no Java")]))
    assert lines[-3:] == ["| case | result |", "|---|---|", "| c | NOT RUN: no Java |"]


@pytest.mark.parametrize(("seconds", "code"), [(1.1, 0), (1.3, 1)])
def test_the_exit_code_tells_a_missed_figure(
    seconds: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise nobody notices that a figure asked for is missed."""

    def rows(options: Options) -> Iterator[Row]:
        yield Row("start", "help", {"time": Figure(seconds, "s", 1.0)})
        yield Row("start", "other", not_run="not here")

    monkeypatch.setattr("benchmarks.bench_startup.run", rows)
    assert program.main(["startup", "--quick"]) == code
    out = capsys.readouterr().out
    assert "NOT RUN: not here" in out
    assert ("MISSED" in out) == bool(code)


def test_an_unknown_benchmark_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise a typing error measures nothing and passes."""
    with pytest.raises(SystemExit, match="2"):
        program.main(["bilders"])
    assert "bilders" in capsys.readouterr().err
