"""Whole or not at all: a failed write leaves what was there before, and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from topicloom.base.atomic_write import replacing
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import check_replaceable, load_build


def test_a_failure_in_the_middle_leaves_the_old_content(tmp_path):
    target = tmp_path / "result.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result.txt"]


def test_a_folder_takes_the_place_of_a_full_one(tmp_path):
    target = tmp_path / "build"
    target.mkdir()
    (target / "old").write_text("")
    with replacing(target) as temporary:
        temporary.mkdir()
        (temporary / "new").write_text("")
    assert [path.name for path in target.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["build"]


@pytest.mark.parametrize("name", ["x" * 300, "file/below"])
def test_an_impossible_target_is_one_sentence(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"), replacing(tmp_path / name) as temporary:
        temporary.write_text("")


@pytest.mark.parametrize(
    "content",
    [
        {"chapter.txt": "years"},
        {"summary.json": "{}"},
        {"summary.json": json.dumps({"format": 1, "kind": "build"}), "precious.txt": "years"},
        {"summary.json": json.dumps({"format": 1, "kind": "comparison"}), "precious.txt": "years"},
        {"summary.json": "not json"},
    ],
)
def test_a_folder_with_anything_foreign_is_refused(tmp_path, content):
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="something else"):
        check_replaceable(tmp_path)


def test_what_may_be_replaced(tmp_path, monkeypatch):
    check_replaceable(tmp_path / "new")
    check_replaceable(tmp_path)
    (tmp_path / "summary.json").write_text(json.dumps({"format": 1, "kind": "build"}))
    (tmp_path / "edges.parquet").write_text("")
    check_replaceable(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="current folder"):
        check_replaceable(Path("."))


def test_a_damaged_build_says_so(tmp_path):
    with pytest.raises(InputError, match="not a build"):
        load_build(tmp_path)
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        load_build(tmp_path)
    summary = {"format": 1, "kind": "build", "algorithm": "gm", "parameters": {}, "seed": 0, "seconds": {},
               "interest_digest": "0"}  # fmt: skip
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(InputError, match="damaged"):
        load_build(tmp_path)


def test_a_link_to_a_folder_stays_and_its_folder_is_replaced(tmp_path):
    """Renaming a folder onto the link fails, after all the work."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as temporary:
        temporary.mkdir()
        (temporary / "new").write_text("x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "new").read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_what_a_killed_run_left_is_removed_by_the_next_write(tmp_path):
    """A killed local build left `.tmp-PID-out` for good: only some commands looked for it."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    for name in (f".tmp-{dead.pid}-out", f".old-{dead.pid}-out", ".tmp-1-out", f".tmp-{dead.pid}-other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "edges.parquet").write_text("half")
    with replacing(tmp_path / "out") as folder:
        folder.mkdir()
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".tmp-1-out", f".tmp-{dead.pid}-other", "out"], "process 1 runs, and others are not ours"
