"""Which interest is measured on Spark, where nobody has said so: one of many rows, wherever it lies."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicloom.cli.main import execute
from topicloom.overlay.jobs import measure
from topicloom.overlay.jobs.interest_table import InterestTable
from topicloom.tables.source import interest_source
from topicloom.tables.spark.spark_choice import SparkChoice

ROWS = 2000
TEXT = "node,topic\n" + "".join(f"n{number:04},t{number % 7}\n" for number in range(ROWS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    (folder / "t.csv").write_text(TEXT)
    (folder / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "parts").mkdir()
    (folder / "parts" / "a.csv").touch()
    (folder / "parts" / "b.csv").write_text(TEXT)
    columns = {"node": [f"n{number}" for number in range(ROWS)], "topic": ["t"] * ROWS}
    pq.write_table(pa.table(columns), folder / "t.parquet")
    return folder


@pytest.mark.parametrize("place", ["", "file://"])
@pytest.mark.parametrize("name", ["t.csv", "parts", "t.parquet"])
def test_the_size_of_files_tells_how_many_rows_there_are(spark, folder, monkeypatch, place, name):
    table = InterestTable(interest_source(f"{place}{folder}/{name}"), SparkChoice())
    for limit, large in ((0.98 * ROWS, True), (1.02 * ROWS, False)):
        monkeypatch.setattr(measure, "LOCAL_SUBSCRIPTIONS", int(limit))
        assert measure.is_large(table) == large


def test_text_that_is_compressed_may_have_ten_times_as_much(spark, folder, monkeypatch):
    monkeypatch.setattr(measure, "LOCAL_SUBSCRIPTIONS", ROWS)
    for place in ("", "file://"):
        assert measure.is_large(InterestTable(interest_source(f"{place}{folder}/t.csv.gz"), SparkChoice()))


def test_a_large_table_behind_an_address_stays_there(spark, folder, monkeypatch, capsys):
    monkeypatch.setattr(measure, "LOCAL_SUBSCRIPTIONS", ROWS // 2)
    (folder / "edges.csv").write_text("u,v\nn0000,n0007\n")
    assert execute(["measure", f"file://{folder}/t.csv", f"file://{folder}/edges.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["edges"] == 1 and "diameter_overlay" in found["unknown"]
    assert execute(["inspect", f"file://{folder}/nowhere.csv"]) == 2
    assert "no such file or folder" in capsys.readouterr().err
