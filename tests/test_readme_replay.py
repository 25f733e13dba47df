"""README is typed line by line in an empty folder: every file that it uses was made by a line before.

Sizes are cut down, and tables are read in this process: whether the files are there does not depend on that.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from brokers_present import missing
from topicloom.cli.main import execute
from topicloom.errors import InputError, UsageError
from topicloom.mesh.jobs.example import EXAMPLES, write_example

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
LINES = [
    shlex.split(line.removeprefix("$ "), comments=True)
    for block in BLOCKS
    for line in block.splitlines()
    if re.match(r"(\$ )?topicloom ", line)
]
SMALLER = {"2000": "120", "1000000": "300", "10000": "40"}
READERS = ("inspect", "build", "compare", "simulate", "measure", "verify")


def scaled(words: list[str]) -> list[str]:
    """Return the words of a command for smaller tables, without Spark."""
    words = [SMALLER.get(word, word.replace("huge.parquet", "huge.csv")) for word in words]
    if "--engine" in words:
        words[words.index("--engine") + 1] = "local"
    elif words[0] in READERS:
        words += ["--engine", "local"]
    return words


@pytest.mark.slow
def test_readme_can_be_typed_line_by_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(LINES) > 15
    for program, *words in LINES:
        assert program == "topicloom"
        if words[0] == "demo" or (words[0] == "run" and missing(["mosquitto"])):
            continue  # the demo has a test of its own
        code = execute([*scaled(words), "--quiet"])
        expected = 1 if words == ["verify", "--mosquitto", "brokers"] else 0
        assert code == expected, (words, capsys.readouterr().err)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_written_whole_and_replace_only_themselves(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    written = write_example(name)
    assert all(Path(file).stat().st_size for file in written.files)
    assert write_example(name) == written
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").write_text("")
    for taken in (other, other / "mine"):
        with pytest.raises(InputError, match="is there already"):
            write_example(name, taken)
    with pytest.raises(UsageError, match="choose one of px4"):
        write_example("nobody")


def test_tables_of_examples_can_be_built(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert execute(["example", "autoware"]) == 0
    assert "written to autoware.tsv" in capsys.readouterr().out
    assert execute(["inspect", "autoware.tsv", "--engine", "local", "--json"]) == 0
    out, err = capsys.readouterr()
    assert '"nodes":94,"topics":303' in out and err == ""
    assert execute(["example", "--list"]) == 0 and "brokers: " in capsys.readouterr().out
