"""What Spark says of its own work: tasks, failures and plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.cli.main import execute
from topicloom.tables.spark.spark_work import StageBook, last_plan, write_plans


def test_the_book_tells_what_was_done_since_it_was_last_read(spark, tmp_path: Path) -> None:
    book = StageBook(spark)
    assert spark.range(0, 100, 1, 4).count() == 100
    work = book.read()
    assert work.tasks == 5 and work.retries == 0  # four, and the one that adds up
    assert 0 <= work.median_seconds <= work.slowest_seconds
    assert book.read().tasks == 0


def test_plans_are_kept(spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.csv").write_text("node,topic\na,x\nb,x\n")
    asked = ["--engine", "spark", "--json", "--quiet", "--spark-plans", str(tmp_path / "plans.txt")]
    command = ["inspect", str(tmp_path / "table.csv"), *asked]
    assert execute(command) == 0, capsys.readouterr().err
    text = (tmp_path / "plans.txt").read_text()
    assert text.startswith("=== query ") and "== Physical Plan ==" in text and "table.csv" in text
    first = int(text.split()[2].rstrip(":"))
    assert execute(command) == 0
    capsys.readouterr()
    again = (tmp_path / "plans.txt").read_text()
    assert int(again.split()[2].rstrip(":")) > first, "only those of this command"


def test_a_command_without_spark_has_no_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.csv").write_text("node,topic\na,x\nb,x\n")
    words = ["inspect", tmp_path / "table.csv", "--engine", "local", "--spark-plans", tmp_path / "plans.txt"]
    assert execute([str(word) for word in words]) == 0
    assert "query" in (tmp_path / "plans.txt").read_text()
    capsys.readouterr()


def test_only_plans_after_a_number_are_written(spark, tmp_path: Path) -> None:
    """A program's own queries before a command are not the command's."""
    spark.range(3).count()
    before = last_plan(spark)
    spark.range(3).count()
    write_plans(spark, tmp_path / "plans.txt", before)
    text = (tmp_path / "plans.txt").read_text()
    assert text.count("=== query ") == 1


@pytest.mark.parametrize("name", ["taken.txt/plans.txt", "folder"])
def test_a_place_where_plans_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "taken.txt").write_text("")
    (tmp_path / "folder").mkdir()
    plans, words = str(tmp_path / name), ["inspect", "missing.csv", "--engine", "spark"]
    assert execute([*words, "--spark-plans", plans]) == 2
    assert f"--spark-plans {plans}" in capsys.readouterr().err, "not of the table, which is looked at later"
    assert (tmp_path / "folder").is_dir()
