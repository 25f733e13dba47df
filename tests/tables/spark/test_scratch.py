"""What killed runs leave in the temporary folder is removed by the next one, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from topicloom.tables.spark import scratch
from topicloom.tables.spark.scratch import PREFIX, new_scratch, remove_scratch
from topicloom.tables.spark.spark_choice import SparkChoice

MAKE = "from topicloom.tables.spark.scratch import new_scratch; print(new_scratch(), flush=True); input()"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_only_folders_of_processes_that_are_gone_are_swept(place: Path, monkeypatch: pytest.MonkeyPatch):
    """A process number is no proof: in another container the same number is another process."""
    environment = {"TMPDIR": str(place), "PYTHONPATH": ":".join(sys.path)}
    other = subprocess.Popen(
        [sys.executable, "-c", MAKE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert other.stdout is not None
    theirs = Path(other.stdout.readline().strip())
    renumbered = theirs.rename(theirs.with_name(f"{PREFIX}{scratch._host()}-{2**30}-other"))
    kept = [renumbered, place / f"{PREFIX}{scratch._host()}-1-bare", place / f"{PREFIX}other", place / "x"]
    for folder in kept[1:]:
        folder.mkdir()
    mine = new_scratch()
    assert mine.is_dir() and all(folder.is_dir() for folder in kept)
    other.kill()
    other.wait()
    with monkeypatch.context() as patch:  # another machine that shares the disk
        patch.setattr(scratch.socket, "gethostname", lambda: "elsewhere")
        remove_scratch(new_scratch())
    assert renumbered.is_dir()
    remove_scratch(new_scratch())
    assert not renumbered.exists()
    assert mine.is_dir() and all(folder.is_dir() for folder in kept[1:])
    remove_scratch(mine)
    assert not mine.exists()


def test_workspaces_lie_in_the_folder_of_the_session(spark: object, place: Path):
    with SparkChoice().workspace(place / "out") as work:
        assert work.is_dir() and PREFIX in work.parent.name
        assert (work.parent / scratch.OWNER).exists()
        assert list(place.iterdir()) == []
    assert not work.exists()


def test_a_workspace_without_a_session_is_owned_too(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("topicloom.tables.spark.spark_choice.session_runs", lambda: False)
    with SparkChoice().workspace(starts=False) as work:
        assert work.parent == place and (work / scratch.OWNER).exists()
    assert list(place.iterdir()) == []


def test_a_folder_beside_a_result_is_hidden_and_owned(tmp_path: Path):
    folder = new_scratch(tmp_path)
    assert folder.name.startswith(f".{PREFIX}")
    scratch._held.pop(folder).close()  # as if the process had died
    again = new_scratch(tmp_path)
    assert not folder.exists() and again.is_dir()
    remove_scratch(again)
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_while_a_folder_is_made_leaves_it_alone(place: Path, monkeypatch: pytest.MonkeyPatch):
    """A sweep between the making of a folder and its lock would remove the scratch of a live process."""
    lock = scratch.fcntl.flock

    def sweep_first(file, how):
        monkeypatch.setattr(scratch.fcntl, "flock", lock)
        scratch.sweep(place)
        lock(file, how)

    monkeypatch.setattr(scratch.fcntl, "flock", sweep_first)
    made = new_scratch()
    scratch.sweep(place)
    assert made.is_dir()
    remove_scratch(made)
