"""What names, options and first rows tell is refused before Spark starts; `-` is standard input."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from topicloom.base.atomic_write import check_writable
from topicloom.cli.main import execute
from topicloom.errors import InputError
from topicloom.tables.spark import spark_choice

TABLE = "node,topic\na,x\nb,x\nb,y\nc,y\n"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in a folder of its own; it fails if it starts Spark."""
    monkeypatch.chdir(tmp_path)

    def started(**_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(spark_choice, "get_session", started)
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.doc").write_text("")
    (tmp_path / "file").write_text("")

    def command(*words: object) -> tuple[int, str, str]:
        code = execute([str(word) for word in words])
        return code, *capsys.readouterr()

    return command


BUILD = ("build", "t.csv", "--out", "b")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("build", "no.csv", "--out", "b"), "no such file or folder: no.csv"),
        (("build", "file", "--out", "b"), "cannot tell the format of file"),
        (("inspect", "taken"), "cannot tell the format of taken/thesis.doc"),
        (("build", "t.csv", "--node-column", "who", "--out", "b"), "no column 'who' (--node-column)"),
        (("build", "t.csv", "--separator", ";", "--out", "b"), "t.csv has one column and two are needed"),
        (("build", "t.csv", "--format", "xml", "--out", "b"), "--format xml is not known"),
        (("build", "t.csv", "--encoding", "utf-16", "--out", "b"), "--encoding 'utf-16' is not read"),
        (("build", "t.csv", "--out", "taken"), "--out taken holds something else than an earlier result"),
        (("build", "t.csv", "--out", "file"), "--out file is a file"),
        (("build", "t.csv", "--out", "file/b"), "file is not a folder"),
        (("simulate", "t.csv", "--out", "file/b"), "file is not a folder"),
        (("compare", "t.csv", "--out", "taken"), "holds something else"),
        (("compare", "t.csv", "--plot", "x.gif"), "a chart cannot be saved as x.gif"),
        (("compare", "t.csv", "--plot", "file/x.png"), "cannot write file/x.png"),
        (("compare", "t.csv", "--algorithms", "gm,nobody"), "nobody"),
        (("verify", "t.csv", "file"), "cannot tell the format of file"),
        (("verify", "t.csv", "t.csv", "--all", "file/x.json"), "cannot write file/x.json"),
        (("measure", "t.csv", "no.csv"), "no such file or folder: no.csv"),
        (("generate", "taken/x/y.parquet", "--nodes", "0"), "--nodes"),
        (("generate", "file/y.parquet", "--nodes", "9", "--popularity", "rss"), "file is not a"),
        ((*BUILD, "--caps", "bad.csv"), "bad.csv: in the row 'a,many' the cap is not a whole number"),
        ((*BUILD, "--forbid", "bad.csv"), "bad.csv has no columns u, v"),
        ((*BUILD, "--costs", "costs.csv"), "1 row was refused in costs.csv, first 'a,b,0'"),
        ((*BUILD, "--start", "semi.csv"), "semi.csv looks separated by ';'"),
        (("verify", "-", "-"), "EDGES -: INTEREST is standard input already"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_before_spark_starts(run, tmp_path, monkeypatch, words, sentence):
    (tmp_path / "bad.csv").write_text("node,cap\na,many\n")
    (tmp_path / "costs.csv").write_text("u,v,cost\na,b,0\n")
    (tmp_path / "semi.csv").write_text("u;v\na;b\n")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(TABLE.encode())))
    code, _, told = run(*words)
    assert code == 2 and sentence in told and told.count("\n") == 1


def test_a_place_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    check_writable(tmp_path / "new" / "folder", "new")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    for target in (tmp_path / "a", tmp_path / "new" / "folder"):
        with pytest.raises(InputError, match=f"cannot write it: permission denied in {tmp_path}"):
            check_writable(target, "it")


def test_standard_input_is_a_table(run, monkeypatch):
    def given(text: str) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))

    given(TABLE + "only\n")
    code, out, told = run("build", "-", "--out", "b", "--engine", "local", "--json", "--quiet")
    assert (code, json.loads(out)["subscriptions"]) == (1, 4)
    assert told.startswith("1 row was refused in standard input:")
    given('{"node": "a", "topic": "x"}\n')
    code, out, _ = run("inspect", "-", "--format", "json", "--engine", "local", "--json")
    assert (code, json.loads(out)["nodes"]) == (0, 1)
    given("u,v\na,b\nb,c\n")
    assert run("verify", "b", "-", "--engine", "local")[0] == 0
    given("")
    code, _, told = run("inspect", "-", "--engine", "local")
    assert (code, told) == (2, "topicloom: standard input holds no subscription: it is empty\n")
