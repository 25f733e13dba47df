"""Tables behind an address that only Spark's file systems understand: from there to the proved build.

Hadoop's `viewfs:` stands in for `s3a:` and `hdfs:`: it is known by settings that the user passes, and nothing
but Spark can open it. If a path were opened by us and not by Spark, none of them could work.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import quick_spark
from topicloom.cli.main import execute
from topicloom.overlay.model.build_folder import load_build
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options, write_text

WORKLOAD = workload_from_options(200, topics=20, subscriptions="1:6", popularity="zipf:0.5", seed=2)
DCBR = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=110"]
RING = ["--algorithm", "ring-pt"]  # fewer jobs, where any builder will do
LINK = "fs.viewfs.mounttable.store.link./data"
ADDRESS = "viewfs://store/data"


@pytest.fixture
def stored(tmp_path) -> Path:
    folder = tmp_path / "stored"
    (folder / "parts.parquet").mkdir(parents=True)
    write_text(WORKLOAD, folder / "table.csv")
    table = generate_interest(WORKLOAD).to_arrow()
    for number, start in enumerate(range(0, len(table), 200)):
        pq.write_table(table.slice(start, 200), folder / "parts.parquet" / f"part-{number}.parquet")
    return folder


@pytest.fixture
def mounted(spark, stored) -> Path:
    """The same folder behind `ADDRESS` in the session that the tests share."""
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.set(LINK, f"file://{stored}")
    settings.set("fs.viewfs.impl.disable.cache", "true")  # each test has a folder of its own
    return stored


@pytest.mark.parametrize(("name", "builder"), [("table.csv", DCBR), ("parts.parquet", RING)])
def test_a_table_behind_an_address_builds_what_the_local_file_builds(
    mounted, tmp_path, capsys, name, builder
):
    far = ["build", f"{ADDRESS}/{name}", *builder, "--engine", "spark", "--out", str(tmp_path / "far")]
    assert execute([*far, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["nodes"] == 200 and summary["topic_connected"]
    assert execute(["verify", f"{ADDRESS}/{name}", str(tmp_path / "far")]) == 0
    near = ["build", str(mounted / name), *builder, "--engine", "local", "--out", str(tmp_path / "near")]
    assert execute(near) == 0
    assert load_build(tmp_path / "far").overlay == load_build(tmp_path / "near").overlay
    capsys.readouterr()


@pytest.mark.spark
def test_the_settings_of_a_file_system_come_from_the_command_line(stored, tmp_path):
    command = ["build", f"{ADDRESS}/table.csv", *RING, "--engine", "spark", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "topicloom", *command, *quick_spark.OPTIONS),
            *quick_spark.SMALL,
            *("--spark-conf", f"spark.hadoop.{LINK}=file://{stored}"),
            # Where nobody answers: our own tables must be found although paths mean another place here.
            *("--spark-conf", "spark.hadoop.fs.defaultFS=hdfs://127.0.0.1:9"),
            *("--spark-conf", "spark.hadoop.ipc.client.connect.max.retries=0"),  # nobody is waited for
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert load_build(tmp_path / "out").overlay.n_nodes == 200


def test_a_changed_table_behind_an_address_is_not_taken_for_the_same(mounted, tmp_path, capsys, monkeypatch):
    import topicloom.overlay.jobs.build_spark as build_spark
    from topicloom.errors import InputError

    def broken(*_: object, **__: object) -> None:
        raise InputError("the disk is full")

    command = ["build", f"{ADDRESS}/table.csv", *RING, "--engine", "spark", "--out", str(tmp_path / "out")]
    with monkeypatch.context() as patch:
        patch.setattr(build_spark, "write_build", broken)
        assert execute(command) == 2
    with (mounted / "table.csv").open("a") as more:
        more.write("late,t0001\n")
    capsys.readouterr()
    assert execute([*command, "--resume"]) == 2
    assert "another interest files" in capsys.readouterr().err


def test_a_missing_table_behind_an_address_is_one_sentence(mounted, tmp_path, capsys):
    assert execute(["build", f"{ADDRESS}/none.csv", *RING, "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.strip() == f"topicloom: no such file or folder: {ADDRESS}/none.csv"
