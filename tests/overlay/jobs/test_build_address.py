"""Builds behind an address, on a store that cannot rename, append or link: the same edges, the same resume.

What executors and drivers that were given up still write there must be in nobody's way.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv

from store.sftp import sftp_conf, sftp_server
from store.stores import store_in, store_jar
from topicloom.cli.main import execute
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import load_build
from topicloom.overlay.model.run import Run
from topicloom.overlay.workloads.generate import workload_from_options, write_text

pytestmark = pytest.mark.needs("javac")

DCBR = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=110", "--set", "lambda=3"]
RING = ["--algorithm", "ring-pt"]
SPARK = ["--engine", "spark"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("address")


@pytest.fixture(scope="module")
def at(spark, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `folder / "root"`."""
    with store_in(spark, store_jar(tmp_path_factory.getbasetemp()), folder / "root") as address:
        yield address


@pytest.fixture(scope="module")
def table(folder: Path) -> Path:
    path = folder / "table.csv"
    write_text(
        workload_from_options(200, topics=20, subscriptions="1:6", popularity="zipf:0.5", seed=2), path
    )
    return path


@pytest.fixture(scope="module")
def near(table: Path, folder: Path) -> Path:
    """The same build on a disk of this machine."""
    assert execute(["build", str(table), *DCBR, "--engine", "local", "--out", str(folder / "near")]) == 0
    return folder / "near"


@pytest.fixture
def cli(at, capsys) -> Callable[..., tuple[int, str, str]]:
    def run(*words: object) -> tuple[int, str, str]:
        code = execute([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def stop_after(monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    """A run ends when this phase is whole, as if its driver were killed then."""
    keep = Run.keep

    def kept(self: Run, name: str, *arguments: Any) -> Any:
        known = self.read_record(name) is not None
        record = keep(self, name, *arguments)
        if name == phase and not known:
            raise InputError("enough")
        return record

    monkeypatch.setattr(Run, "keep", kept)


def stray(folder: Path) -> None:
    """What a task that was given up writes late: a part file that looks like any other."""
    late = folder / "part-00077-late.parquet"
    if not late.exists():
        shutil.copy(next(file for file in folder.iterdir() if file.suffix == ".parquet"), late)


def assert_whole(root: Path, near: Path) -> None:
    """A finished build with the edges of the local one, and nothing of the way there."""
    assert sorted(path.name for path in root.iterdir()) == ["summary.json", "tables"]
    tables = json.loads((root / "summary.json").read_text())["tables"]
    assert set(tables) == {"edges.parquet", "interest.parquet"}
    there = {path.relative_to(root).as_posix() for path in root.glob("tables/*/*")}
    assert there == set(tables.values())
    assert load_build(root).overlay == load_build(near).overlay
    names = [path.name for path in root.rglob("*") if path.is_file()]
    assert not any(name.startswith("__pending") for name in names)


def test_a_run_that_ends_after_any_phase_goes_on_and_nothing_stray_is_taken(
    cli, at, table, near, folder, monkeypatch
):
    root = folder / "root" / "resumed"
    command = ["build", table, *DCBR, *SPARK, "--out", f"{at}/resumed"]
    phases = ["ingest", "split", "represent-2", "conquer", "combine-1", "polish", "write", "verify"]
    for number, phase in enumerate(phases):
        with monkeypatch.context() as patch:
            stop_after(patch, phase)
            code, _, said = cli(*command, *(["--resume"] if number else []))
        assert code == 2 and "with --resume goes on with them" in said, said
        records = {path.stem for path in (root / "phases").iterdir()} - {"request"}
        assert records == set(phases[: number + 1])
        # Tasks of this attempt that the driver had given up, and an attempt of another driver.
        for tables in root.glob(f"tables/{phase}-*/*"):
            stray(tables)
            shutil.copytree(
                tables,
                root / "tables" / f"{phases[min(number + 1, len(phases) - 1)]}-deadbeef0000" / tables.name,
            )
    (root / "summary.json").write_bytes(b'{"format": 1, "ki')  # as a disk may leave it that shows half files
    code, shown, said = cli(*command, "--resume", "--json")
    assert code == 0 and "going on after: ingest, split, " in said
    assert json.loads(shown) == json.loads((root / "summary.json").read_text())
    assert_whole(root, near)
    for tables in root.glob("tables/*/*"):  # and after the end
        stray(tables)
    assert cli("verify", f"{at}/resumed", f"{at}/resumed", "--strict")[0] == 0
    assert load_build(root).overlay == load_build(near).overlay, "a copy on a disk is read the same way"
    code, _, said = cli(*command, "--resume")
    assert code == 0 and "is whole already" in said


def test_a_result_is_read_by_its_address_as_on_a_disk(cli, at, table, near, folder):
    root = folder / "root" / "small"
    code, shown, _ = cli("build", table, *DCBR, "--out", f"{at}/small/", "--json")
    assert code == 0 and json.loads(shown)["engine"] == "local"
    assert_whole(root, near)
    code, there, _ = cli("measure", f"{at}/small", f"{at}/small", "--json")
    assert code == 0
    code, here, _ = cli("measure", near, near, "--json")
    assert {**json.loads(there), "seconds": 0} == {**json.loads(here), "seconds": 0}
    assert json.loads(cli("inspect", f"{at}/small", "--json")[1])["nodes"] == 200
    assert cli("verify", table, f"{at}/small", *SPARK)[0] == 0
    # Edges that are a file and not a build: nobody looks for something below a file, which may be an error.
    edges = folder / "root" / "edges.csv"
    write_csv(load_build(near).overlay.to_arrow(), edges)
    for engine in ((), SPARK):
        assert cli("verify", table, f"{at}/edges.csv", *engine)[0] == 0
    assert cli("measure", table, f"{at}/edges.csv")[0] == 0
    code, _, said = cli("build", table, *DCBR, *SPARK, "--resume", "--out", f"{at}/edges.csv")
    assert code == 2 and f"{at}/edges.csv is a file; name a folder" in said, said
    other = folder / "other.csv"
    other.write_text("node,topic\na,x\nb,x\n")
    for words in (("verify", other, f"{at}/small"), ("measure", other, f"{at}/small")):
        code, _, said = cli(*words)
        assert code == 2 and "was made for another interest" in said
    # A copy is a build like any other.
    copy = shutil.copytree(root, folder / "copy")
    assert cli("verify", copy, copy, "--engine", "local")[0] == 0
    assert cli("export", "edge-list", copy, "--out", folder / "exported")[0] == 0
    next(copy.glob("tables/*/edges.parquet/part-*")).unlink()
    code, _, said = cli("verify", copy, copy, "--engine", "local")
    assert code == 2 and "is not whole: part-00000.parquet, which _files.json names, is not there" in said


def test_nothing_there_is_lost_unasked(cli, at, table, folder, monkeypatch):
    root = folder / "root" / "kept"
    command = ["build", table, *RING, *SPARK, "--out", f"{at}/kept"]
    with monkeypatch.context() as patch:
        stop_after(patch, "rings")
        assert cli(*command)[0] == 2
    code, _, said = cli(*command)
    assert code == 2 and "holds an unfinished run" in said and f"remove {at}/kept/phases" in said
    code, _, said = cli(*command, "--resume", "--seed", "9")
    assert code == 2 and "begun with another seed (0, now 9)" in said
    # A record that was cut off counts as none: its phase is done again.
    record = root / "phases" / "rings.json"
    record.write_bytes(record.read_bytes()[:40])
    code, _, said = cli(*command, "--resume")
    assert code == 0 and "going on after: ingest\n" in said
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    for again in (command, ["build", table, "--algorithm", "gm", "--out", f"{at}/kept"]):
        code, _, said = cli(*again)
        assert code == 2 and "holds a finished build, and behind an address nothing is written over" in said
    code, _, said = cli(*command, "--resume", "--seed", "9")
    assert code == 2 and "finished build of another request" in said
    (folder / "root" / "taken").mkdir()
    (folder / "root" / "taken" / "thesis.doc").touch()
    code, _, said = cli("build", table, *RING, "--out", f"{at}/taken")
    assert code == 2 and "holds something else than a build (thesis.doc)" in said
    assert before == {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    code, _, said = cli("compare", table, "--algorithms", "gm,star", "--out", f"{at}/compared")
    assert code == 2 and f"--out {at}/compared is an address" in said


def test_what_fails_at_once_leaves_no_trace_and_two_runs_do_not_mix(cli, at, folder, table, monkeypatch):
    bad = folder / "bad.csv"
    bad.write_text("node,topic\n,x\n")
    assert cli("build", bad, *RING, *SPARK, "--out", f"{at}/none")[0] == 2
    assert not (folder / "root" / "none").exists()
    keep = Run.keep

    def raced(self: Run, name: str, *arguments: Any) -> Any:
        if name == "rings":  # another run of the same folder was faster
            (folder / "root" / "raced" / "phases" / "rings.json").write_text("{}")
        return keep(self, name, *arguments)

    monkeypatch.setattr(Run, "keep", raced)
    code, _, said = cli("build", table, *RING, *SPARK, "--out", f"{at}/raced")
    assert code == 2 and "rings.json is there already: another run has written it" in said


def test_a_real_remote_file_system_gives_the_same_edges_and_the_same_resume(
    cli, spark, folder, table, monkeypatch
):
    """From a table there to a result there. (Hadoop's `ftp:` cannot read Parquet: it cannot seek.)"""
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    for key, value in sftp_conf().items():
        settings.set(key, value)
    with sftp_server(folder / "served") as port:
        shutil.copy(table, folder / "served" / "table.csv")
        there = f"sftp://127.0.0.1:{port}"
        command = ["build", f"{there}/table.csv", *RING, *SPARK, "--out", f"{there}/out"]
        with monkeypatch.context() as patch:
            stop_after(patch, "rings")
            assert cli(*command)[0] == 2
        code, _, said = cli(*command, "--resume")
        assert code == 0 and "going on after: ingest, rings" in said
        assert cli("verify", table, f"{there}/out")[0] == 0
    assert cli("build", table, *RING, "--engine", "local", "--out", folder / "ring")[0] == 0
    assert_whole(folder / "served" / "out", folder / "ring")


def test_an_address_that_nothing_here_speaks_is_one_sentence(cli, folder, table, monkeypatch):
    monkeypatch.chdir(folder)
    for engine in ("local", "spark"):
        code, _, said = cli("build", table, *RING, "--engine", engine, "--out", "s3a://bucket/x")
        assert code == 2 and "Spark has no file system for s3a://bucket/x: add the jars of its" in said
    assert not list(folder.glob("s3a*"))


def test_refused_rows_and_large_tables_come_through(cli, at, folder, monkeypatch):
    table = folder / "roles.csv"
    table.write_text(
        "node,topic,role,rate\na,x,pub,2\nb,x,sub,4\nb,y,both,1\nc,y,sub,3\n,z,sub,1\na,x,sub,5\n"
    )
    code, _, _ = cli("build", table, *RING, "--engine", "local", "--out", folder / "roles")
    assert code == 1
    wanted = {part: pq.read_table(folder / "roles" / f"{part}.parquet") for part in ("interest", "rejects")}
    # As a table that is too large to be collected: `auto` then builds on Spark.
    monkeypatch.setattr("topicloom.tables.spark.read.COLLECTED_BYTES", 0)
    monkeypatch.setattr("topicloom.overlay.jobs.interest_table.collects", lambda source: False)
    code, shown, said = cli("build", table, *RING, "--out", f"{at}/roles", "--json")
    found = json.loads(shown)
    assert code == 1 and found["engine"] == "spark"
    assert f"{at}/roles/{found['tables']['rejects.parquet']} lists every refused row" in said
    for part, rows in wanted.items():
        there = pq.read_table(
            [*(folder / "root" / "roles" / found["tables"][f"{part}.parquet"]).glob("part-*")]
        )
        assert sorted(map(repr, there.to_pylist())) == sorted(map(repr, rows.to_pylist())), part
    code, _, said = cli("build", table, "--algorithm", "gm", "--out", f"{at}/gm")
    assert code == 2 and "gm runs on local only" in said


@pytest.mark.parametrize("place", ["tables/customers/part-0.csv", "tables/mine.csv", "phases/notes.txt"])
def test_files_of_the_user_behind_an_address_are_not_removed(cli, table, tmp_path, place):
    """`tables` is a likely name of a folder that somebody has already."""
    mine = tmp_path / "out" / place
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    code, _, said = cli("build", table, "--algorithm", "star", "--out", f"file://{tmp_path}/out")
    assert code == 2 and "something else than a build" in said and mine.read_text() == "mine"


def test_a_run_that_fails_leaves_the_phases_of_another_one(spark, tmp_path):
    """Nothing can keep two runs of one folder apart: each may only remove what it made."""
    from topicloom.overlay.spark.run_address import open_run_at
    from topicloom.tables.spark.remote_files import RemoteFolder

    folder = RemoteFolder(spark, f"file://{tmp_path}/out")
    options = {"resume": False, "now": lambda: 0.0, "told": lambda phase, seconds: None}
    with open_run_at(folder, {}, **options) as one:
        with pytest.raises(InputError, match="the second"), open_run_at(folder, {}, **options):
            with one.attempt("ingest") as attempt:
                attempt.commit({})
            raise InputError("the second run fails")
        assert [entry.name for entry in folder.entries("phases")] == ["ingest.json", "request.json"]
