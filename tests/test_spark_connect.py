"""Through Spark Connect on loopback: everything but the broadcast judge, in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom
from connect_process import SECONDS, SETTINGS, run_connect_program

pytestmark = [pytest.mark.spark, pytest.mark.alone]
PAIRS = [(f"n{i % 60}", f"t{(i * 7 + i // 60) % 13}") for i in range(300)]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the program has found."""
    folder = tmp_path_factory.mktemp("connect")
    write_tables(folder)
    run_connect_program("connect_session.py", [SETTINGS, PAIRS, str(folder), SECONDS], folder)
    return json.loads((folder / "found.json").read_text())


def write_tables(folder: Path) -> None:
    """The same interest in several kinds of files, and builds of it."""
    wants = topicloom.Interest.from_pairs(PAIRS)
    text = "node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in PAIRS)
    (folder / "wants.csv").write_text(text)
    (folder / "folder").mkdir()
    for number in range(3):
        part = wants.to_arrow().slice(number * 100, 100)
        pq.write_table(part, folder / "folder" / f"part {number}+%41.parquet")
    for topic in ("t0", "t1"):
        (folder / "days" / f"topic={topic}").mkdir(parents=True)
        (folder / "days" / f"topic={topic}" / "a.csv").write_text("node\na\nb\r")
    (folder / "days" / "_SUCCESS").touch()
    topicloom.build(wants, "gm").save(folder / "built")
    # As Spark leaves a build at an address: tables in folders of their own, with a list of their files.
    remote = folder / "remote"
    remote.mkdir()
    summary = json.loads((folder / "built" / "summary.json").read_text())
    summary["tables"] = {name: f"tables/write-1/{name}" for name in ("edges.parquet", "interest.parquet")}
    (remote / "summary.json").write_text(json.dumps(summary))
    for name, place in summary["tables"].items():
        (remote / place).mkdir(parents=True)
        table = pq.read_table(folder / "built" / name)
        pq.write_table(table, remote / place / "part-0.parquet")
        listed = {"rows": table.num_rows, "files": ["part-0.parquet"]}
        (remote / place / "_files.json").write_text(json.dumps(listed))
    (folder / "empty").mkdir()
    (folder / "delta" / "_delta_log").mkdir(parents=True)
    (folder / "delta" / "_delta_log" / "0.json").write_text("{}")
    pq.write_table(pa.table({"node": ["a"], "topic": ["x"]}), folder / "delta" / "a.parquet")
    (folder / "mixed" / "inner").mkdir(parents=True)
    (folder / "mixed" / "inner" / "a.csv").write_text(text)


def test_dataframes(found):
    wants = topicloom.Interest.from_pairs(PAIRS)
    here, rings = topicloom.build(wants, "dcbr-m", seed=3), topicloom.build(wants, "ring-pt")
    assert found["edges"] == here.overlay.to_pandas().to_numpy().tolist()
    assert found["summary"] == ["spark", 1, len(PAIRS) + 3 - wants.n_subscriptions] and found["rejects"] == 1
    assert found["verified"] and found["split"] > 0 and found["bucketed"] == [True, "bucketed"]
    edges = topicloom.build(wants, "gm").n_edges
    assert found["gm"] == ["local", edges, edges]
    assert found["rings"] == rings.overlay.to_pandas().to_numpy().tolist()
    measured = topicloom.measure(wants, rings, certify=True)
    assert found["measured"] == {key: measured[key] for key in found["measured"]}
    assert found["inspected"] == found["large profile"] == topicloom.inspect(wants).components
    assert found["here"] == [wants.n_subscriptions, rings.n_edges]
    assert found["catalog"] == wants.n_subscriptions and found["no table"].startswith("there is no")
    degree, bound, method = found["large"]
    assert degree == rings.degree_max and method.endswith("on Spark")
    assert 0 < bound <= measured["edges_bound"] and 0 < found["certificate"] <= measured["edges_bound"]
    assert found["address"].startswith("s3a://bucket/o: Spark Connect cannot write")
    assert found["state"]


def test_files_that_only_spark_sees(found):
    count = topicloom.Interest.from_pairs(PAIRS).n_subscriptions
    assert found["counts"] == dict.fromkeys(("wants.csv", "folder", "built", "remote"), count) | {"days": 4}
    assert found["shared"] == count
    edges = topicloom.build(topicloom.Interest.from_pairs(PAIRS), "gm").n_edges
    assert found["built"] == found["remote"] == [True, edges, edges]
    assert found["cut"] == count and found["elsewhere"] == 4
    assert found["nowhere.csv"] == "no such file or folder: file:///nowhere.csv"
    assert "holds no data file" in found["empty"] and "is a Delta table" in found["delta"]
    assert found["mixed"].startswith("folder file:///mixed holds another folder, inner")
    assert found["relative"] == "wants.csv lies where Spark runs, on another machine: give its whole path"


def test_progress_and_a_stop(found):
    assert found["progress"] and found["stopped"]
