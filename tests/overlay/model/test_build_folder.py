"""A result is replaced only where everything in its folder was written by us."""

from __future__ import annotations

import pytest

from topicloom.cli.main import execute
from topicloom.overlay.model.build_folder import load_build


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("node,topic\na,x\nb,x\nb,x\n,x\nc,x\nd,x\ne,x\nf,x\ng,x\nh,x\ni,x\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (["build", "--algorithm", "gm"], "tables/mine.tex"),
        (["compare", "--algorithms", "gm"], "thesis.pdf"),
        (["simulate"], "photo.png"),
    ],
)
def test_a_file_of_the_user_is_not_deleted(table, capsys, command, file):
    words = [command[0], "t.csv", *command[1:], "--engine", "local", "--out", "out"]
    assert execute(words) == 0 and execute(words) == 0, "our own result is replaced"
    mine = table / "out" / file
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("years of work")
    assert execute(words) == 2 and mine.read_text() == "years of work"


def test_a_loaded_build_saved_onto_itself_keeps_what_the_table_said(table, capsys):
    """Its interest knows nothing of rows that were refused or repeated."""
    assert execute(["build", "t.csv", "--algorithm", "gm", "--engine", "local", "--out", "out"]) == 0
    before = {path.name: path.read_bytes() for path in (table / "out").iterdir()}
    load_build(table / "out").save(table / "out")
    assert {path.name: path.read_bytes() for path in (table / "out").iterdir()} == before
    assert "rejects.parquet" in before
