"""Builds on Spark as a user asks for them: which engine, unfinished runs, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import topicloom.overlay.jobs.build_request as build_request
import topicloom.overlay.jobs.build_spark as build_spark
from topicloom.cli.main import execute
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import load_build
from topicloom.overlay.model.run_folder import open_run
from topicloom.overlay.workloads.generate import workload_from_options, write_text

DCBR = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=160"]
RING = ["--algorithm", "ring-pt"]  # fewer jobs, where any builder will do


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    """Nobody may change it: unfinished runs know its time of change."""
    path = tmp_path_factory.mktemp("input") / "table.csv"
    write_text(
        workload_from_options(300, topics=30, subscriptions="1:9", popularity="zipf:0.5", seed=2), path
    )
    return path


@pytest.fixture
def cli(spark, capsys):
    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def broken(*_: object, **__: object) -> None:
    raise InputError("the disk is full")


@pytest.fixture(scope="module")
def unfinished(spark, table, tmp_path_factory) -> Path:
    """A run that stopped before it wrote its result: copy it."""
    out = tmp_path_factory.mktemp("unfinished") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_spark, "write_build", broken)
        build = ["build", table, *DCBR, "--engine", "spark", "--out", out, "--quiet"]
        assert execute([str(word) for word in build]) == 2
    return out


@pytest.fixture
def out(unfinished, tmp_path) -> Path:
    """An unfinished run of one's own."""
    return Path(shutil.copytree(unfinished, tmp_path / "out"))


def test_both_engines_write_the_same_folder(cli, table, tmp_path):
    summaries = {}
    for name in ("local", "spark"):
        code, stdout, _ = cli("build", table, *DCBR, "--engine", name, "--out", tmp_path / name, "--json")
        assert code == 0
        summaries[name] = json.loads(stdout)
    for part in ("edges", "interest"):
        local, spark = (pq.read_table(tmp_path / name / f"{part}.parquet") for name in ("local", "spark"))
        assert local.equals(spark.cast(local.schema)), part
    assert load_build(tmp_path / "local").overlay == load_build(tmp_path / "spark").overlay
    ours, theirs = summaries["local"], summaries["spark"]
    for key in set(ours) - {"engine", "phases", "seconds"}:
        assert ours[key] == theirs[key], key
    assert set(theirs) - set(ours) == {"request", "spark"}
    assert (ours["engine"], theirs["engine"]) == ("local", "spark")
    assert theirs["seconds"].keys() == ours["seconds"].keys()
    assert {"ingest", "split", "conquer", "combine-1", "write", "verify"} <= theirs["phases"].keys()


def test_roles_rates_and_refused_rows_come_through(cli, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(
        "node,topic,role,rate\na,x,pub,2\nb,x,sub,4\nb,y,both,1\nc,y,sub,3\n,z,sub,1\na,x,sub,5\n"
    )
    for name in ("local", "spark"):
        code, shown, said = cli("build", table, *RING, "--engine", name, "--out", tmp_path / name, "--json")
        found = json.loads(shown)
        assert code == 1 and "in refused rows only: 1 topic ('z')" in said
        assert (found["rejects"], found["only_rejected"]) == ({"the node is empty": 1}, {"topics": 1})
    for part in ("interest", "rejects"):
        local, spark = (pq.read_table(tmp_path / name / f"{part}.parquet") for name in ("local", "spark"))
        assert local.to_pylist() == spark.to_pylist(), part


def test_auto_picks_by_size_and_says_so(cli, table, tmp_path, monkeypatch):
    code, stdout, said = cli("build", table, *RING, "--out", tmp_path / "a", "--json")
    assert code == 0 and json.loads(stdout)["engine"] == "local"
    assert "engine local: " in said and "up to 10,000,000 are built in this process" in said
    monkeypatch.setattr(build_request, "LOCAL_SUBSCRIPTIONS", 100)
    monkeypatch.setattr("topicloom.overlay.jobs.build.LOCAL_SUBSCRIPTIONS", 100)
    code, stdout, said = cli("build", table, *RING, "--out", tmp_path / "b", "--json")
    summary = json.loads(stdout)
    assert code == 0 and summary["engine"] == "spark"
    assert "engine spark: " in said and "more than the 100" in summary["engine_choice"]
    assert load_build(tmp_path / "a").overlay == load_build(tmp_path / "b").overlay
    # Without a name the default is what the time model says; balanced runs in this process only.
    small = tmp_path / "small.csv"
    small.write_text("node,topic\n" + "".join(f"n{i},t{i % 7}\nn{i},u{i % 5}\n" for i in range(60)))
    code, stdout, _ = cli("build", small, "--out", tmp_path / "c", "--json")
    assert (json.loads(stdout)["algorithm"], json.loads(stdout)["engine"]) == ("balanced", "local")
    monkeypatch.setattr("topicloom.overlay.builders.default.MOST_SECONDS", -1.0)
    code, stdout, said = cli("build", small, "--out", tmp_path / "e", "--json")
    assert (json.loads(stdout)["algorithm"], json.loads(stdout)["engine"]) == ("dcbr-m", "spark")
    assert "dcbr-m: no algorithm was named" in said and "engine spark: " in said
    code, stdout, said = cli("build", table, *RING, "--out", tmp_path / "d", "--json", "--certify")
    assert json.loads(stdout)["engine"] == "spark" and json.loads(stdout)["edges_bound"] > 0


def test_an_unfinished_run_is_taken_up_only_when_asked_and_only_by_the_same_request(
    cli, table, tmp_path, out
):
    for options in (["--engine", "spark"], ["--engine", "auto"], ["--engine", "local"]):
        code, _, said = cli("build", table, *DCBR, *options, "--out", out)
        assert code == 2 and "holds an unfinished run: `topicloom build` with --resume goes on" in said
    assert cli("build", table, "--algorithm", "gm", "--out", out)[0] == 2
    assert cli("compare", table, "--algorithms", "gm,star", "--out", out)[0] == 2
    caps = tmp_path / "caps.csv"
    caps.write_text("node,cap\n*,3\n")
    code, _, said = cli("build", table, "--out", out, "--resume", "--caps", caps)
    assert code == 2 and "--caps needs the interest in memory" in said
    code, _, said = cli("build", table, *DCBR, "--seed", "9", "--engine", "spark", "--out", out, "--resume")
    assert code == 2 and "begun with another seed (0, now 9)" in said
    code, _, said = cli(
        "build", table, "--algorithm", "dcbr-m", "--engine", "spark", "--out", out, "--resume"
    )
    assert code == 2 and "another parameters (kernel_nodes 160, now 50000)" in said
    before = table.stat()
    try:
        os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))
        code, _, said = cli("build", table, *DCBR, "--engine", "spark", "--out", out, "--resume")
    finally:
        os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert code == 2 and "another interest files" in said


def test_resume_goes_on_and_a_whole_build_has_nothing_left_to_do(cli, table, out, monkeypatch):
    monkeypatch.setattr(
        "topicloom.overlay.spark.divide.conquer_task", lambda phase: pytest.fail("conquer was done already")
    )
    code, _, said = cli("build", table, *DCBR, "--out", out, "--resume")
    assert code == 0 and "going on after: ingest, split, " in said
    code, stdout, said = cli("build", table, *DCBR, "--engine", "spark", "--out", out, "--resume", "--json")
    assert code == 0 and "is whole already" in said
    assert json.loads(stdout) == json.loads((out / "summary.json").read_text())
    code, _, said = cli("build", table, *DCBR, "--seed", "9", "--engine", "spark", "--out", out, "--resume")
    assert code == 2 and "holds a finished build of another request" in said


def test_bounds_are_a_phase_that_is_kept(cli, table, tmp_path, monkeypatch):
    out, command = tmp_path / "out", ["build", table, *RING, "--engine", "spark", "--out", tmp_path / "out"]
    with monkeypatch.context() as patch:
        patch.setattr(build_spark, "certify_by_nodes", broken)
        assert cli(*command, "--certify")[0] == 2
    code, stdout, said = cli(*command, "--resume", "--certify", "--json")
    assert code == 0 and "going on after: ingest, rings, write, verify" in said and "certify: " in said
    built = json.loads(stdout)
    assert built == json.loads((out / "summary.json").read_text())
    assert built["seconds"]["certify"] == built["phases"]["certify"] > 0
    assert built["seconds"]["build"] < sum(built["phases"].values()) - built["phases"]["certify"]
    measured = json.loads(cli("measure", out, out, "--engine", "spark", "--certify", "--json")[1])
    for key in ("edges_bound", "degree_max_bound", "gap", "degree_max_gap", "bound_method"):
        assert built[key] == measured[key], key
    exact = json.loads(cli("measure", out, out, "--certify", "--json")[1])
    assert 0 < built["edges_bound"] <= exact["edges_bound"] and built["gap"] >= exact["gap"] > 0
    assert "is whole already" in cli(*command, "--resume", "--certify")[2]
    code, _, said = cli(*command, "--resume")
    assert code == 2 and "holds a finished build of another request" in said


def test_a_run_that_stops_says_how_to_go_on_and_strict_is_heard_then(cli, tmp_path, monkeypatch):
    table, out = tmp_path / "table.csv", tmp_path / "out"
    table.write_text("node,topic\na,x\nb,x\nonly-a-node\n")
    with monkeypatch.context() as patch:
        patch.setattr(build_spark, "write_build", broken)
        code, _, said = cli("build", table, *RING, "--engine", "spark", "--out", out)
    assert code == 2 and f"finished phases are kept in {out}: the same command with --resume" in said
    command = ["build", table, *RING, "--engine", "spark", "--out", out, "--resume"]
    code, _, said = cli(*command, "--strict")
    assert code == 2 and "1 row was refused" in said and "--strict was given" in said
    code, _, said = cli(*command)
    assert code == 1 and "1 row was refused" in said and "more than a tenth" in said
    code, _, said = cli(*command, "--allow-rejects")
    assert code == 0 and "is whole already" in said


def test_a_damaged_phase_is_not_resumed_for_ever(cli, table, out):
    for part in (out / ".phases" / "combine-1" / "edges").glob("part-*"):
        part.write_bytes(part.read_bytes()[:-9])
    code, _, said = cli("build", table, *DCBR, "--engine", "spark", "--out", out, "--resume")
    assert code == 2 and f"remove {out / '.phases'} and begin anew" in said


def test_an_earlier_comparison_can_be_replaced_too(cli, table, tmp_path, unfinished):
    out = tmp_path / "out"
    assert cli("compare", table, "--algorithms", "gm,star", "--out", out)[0] == 0
    shutil.copytree(unfinished, out, dirs_exist_ok=True)
    assert cli("build", table, *DCBR, "--engine", "spark", "--out", out, "--resume")[0] == 0
    assert load_build(out).algorithm == "dcbr-m"


def test_an_earlier_build_stays_until_the_new_one_is_whole(cli, table, tmp_path, monkeypatch):
    """It is there while the new one is under way, and after that has failed."""
    out = tmp_path / "out"
    assert cli("build", table, "--algorithm", "gm", "--out", out)[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(build_spark, "write_build", broken)
        assert cli("build", table, *RING, "--engine", "spark", "--out", out)[0] == 2
    assert load_build(out).algorithm == "gm"
    assert cli("build", table, *RING, "--engine", "spark", "--out", out, "--resume")[0] == 0
    assert load_build(out).algorithm == "ring-pt"
    assert not (out / ".phases").exists()


def test_a_run_that_fails_at_once_leaves_nothing(cli, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("node,topic\n")
    code, _, said = cli("build", table, *RING, "--engine", "spark", "--out", tmp_path / "out")
    assert code == 2 and "holds no subscription" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--algorithm", "gm", "--engine", "spark"],
            "gm runs on local only; dcb-m, dcbr-m, ring-pt run on spark",
        ),
        (["--engine", "cloud"], "--engine cloud: it is one of auto, local, spark"),
        (["--engine", "local", "--resume"], "--resume: only --engine spark"),
        (["--engine", "spark", "--caps", "caps.csv"], "--caps needs the interest in memory"),
        (["--engine", "spark", "--set", "work=3"], "name it, for --set"),
    ],
)
def test_what_an_engine_cannot_do_is_refused(cli, table, tmp_path, options, sentence):
    code, _, said = cli("build", table, *options, "--out", tmp_path / "out")
    assert code == 2 and sentence in said
    assert not (tmp_path / "out").exists()


def test_without_a_name_spark_runs_dcbr_m(cli, table, tmp_path):
    code, stdout, said = cli("build", table, "--engine", "spark", "--out", tmp_path / "out", "--json")
    assert code == 0 and json.loads(stdout)["algorithm"] == "dcbr-m"
    assert "no algorithm was named" in said


def test_two_runs_do_not_share_a_folder(cli, table, tmp_path):
    out = tmp_path / "out"
    with open_run(out, {}, resume=False, now=lambda: 0.0):
        code, _, said = cli("build", table, *RING, "--engine", "spark", "--out", out)
        assert code == 2 and "another run works in --out" in said
