"""Tables on the way: every row that tasks wrote must be seen here, whatever disk they wrote it to."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicloom.base.progress import SILENT
from topicloom.errors import InputError
from topicloom.tables.reader import write_rejects
from topicloom.tables.source import interest_source
from topicloom.tables.spark import raw_table, step_tables
from topicloom.tables.spark.read import read_table
from topicloom.tables.spark.step_tables import StepTables
from topicloom.tables.spark.written import Written


def test_rows_and_bytes_are_counted_while_they_are_written(spark, tmp_path: Path) -> None:
    work = StepTables(spark, str(tmp_path), SILENT)
    names = spark.range(0, 10, 1, 3).selectExpr("concat('n', id) id")
    assert work.write(None, names, "names", names="id") == Written(10, 20)
    assert work.write(None, names.where("id = 'z'"), "none") == Written(0, 0)
    assert work.load("names").count() == 10
    far = StepTables(spark, f"file://{tmp_path}", SILENT)
    assert far.write(None, names, "far") == Written(10, 0)


def test_a_table_of_which_a_part_lies_elsewhere_is_refused(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where workers write to disks of their own: the driver sees what it wrote itself, and no more."""
    work = StepTables(spark, str(tmp_path), SILENT)
    run = step_tables.run_watched

    def lose_a_part(*arguments, **options):
        done = run(*arguments, **options)
        sorted((tmp_path / "pairs").glob("part-*"))[1].unlink()
        return done

    monkeypatch.setattr(step_tables, "run_watched", lose_a_part)
    with pytest.raises(InputError, match=r"wrote 9 rows of pairs and this machine sees 6 of them.*share"):
        work.write(None, spark.range(0, 9, 1, 3), "pairs")


def test_very_many_rejects_are_written_by_spark(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("node,topic\na,x\n" + "".join(f"{n}\n" for n in range(50)))
    raw = read_table(spark, interest_source(tmp_path / "t.csv"))
    write_rejects(raw, tmp_path / "few.parquet")
    monkeypatch.setattr(raw_table, "COLLECTED_REJECTS", 10)
    monkeypatch.setattr(raw_table.RawTable, "sorted_rejects", None)  # nothing goes through the driver
    write_rejects(raw, tmp_path / "many.parquet")
    raw.release()
    assert (tmp_path / "few.parquet").is_file() and (tmp_path / "many.parquet").is_dir()
    few, many = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("few", "many"))
    assert few.num_rows == 50 and few == many.cast(few.schema).combine_chunks()


@pytest.mark.parametrize("lost", ["topics", "subscriptions"])
def test_a_verdict_on_a_part_of_the_interest_is_refused(lost: str) -> None:
    from topicloom.overlay.jobs.verify import check_judged
    from topicloom.overlay.measures.judge_tables import check_tables

    interest = pa.table({"node": ["a", "b", "a"], "topic": ["x", "x", "y"]})
    edges = pa.table({"u": ["a"], "v": ["b"]})
    whole = check_tables(interest, edges)
    check_judged(whole, 2, 3, Path("interest.parquet"))
    seen = interest.slice(0, 2) if lost == "topics" else interest.slice(1, 2)
    with pytest.raises(InputError, match=f"of . {lost} were judged: not all files of interest.parquet"):
        check_judged(check_tables(seen, edges), 2, 3, Path("interest.parquet"))
