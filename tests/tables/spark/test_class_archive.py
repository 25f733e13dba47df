"""The archive of Spark's classes: it may save time, and can never be in the way."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from topicloom.tables.spark import class_archive
from topicloom.tables.spark.class_archive import MAKING, archive_path, make_archive, using_archive
from topicloom.tables.spark.java import Java, find_java


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(class_archive, "kept_folder", lambda: tmp_path / "archives")
    return tmp_path / "archives"


def draft_of(option: str) -> Path:
    return Path(option.partition(MAKING)[2])


def test_an_archive_is_made_once_and_used_from_then_on(empty: Path) -> None:
    java = find_java()
    assert using_archive(java) == ""
    assert make_archive(java, lambda option: draft_of(option).write_bytes(b"classes") and None)
    assert str(archive_path(java)) in using_archive(java)
    assert make_archive(java, lambda option: pytest.fail("there was one"))
    assert [path.read_bytes() for path in empty.iterdir()] == [b"classes"]


def test_another_java_has_an_archive_of_its_own(empty: Path, tmp_path: Path) -> None:
    """Java would refuse the other one's, and every start would be slow."""
    assert archive_path(find_java()) != archive_path(Java(tmp_path / "bin" / "java", True))


def test_a_java_that_writes_no_archive_leaves_nothing(empty: Path) -> None:
    assert not make_archive(find_java(), lambda option: None)
    assert list(empty.iterdir()) == []


def test_an_interrupted_making_leaves_nothing_that_could_be_taken_for_an_archive(empty: Path) -> None:
    def interrupted(option: str) -> None:
        draft_of(option).write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_archive(find_java(), interrupted)
    assert list(empty.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(class_archive, "kept_folder", lambda: tmp_path / "file" / "below")
    assert not make_archive(find_java(), lambda option: None)


def test_java_starts_in_silence_with_an_archive_that_does_not_fit(empty: Path) -> None:
    """A half-written or foreign file must cost no more than the time it would have saved."""
    java = find_java()
    make_archive(java, lambda option: draft_of(option).write_bytes(b"no archive at all") and None)
    started = subprocess.run(
        [str(java.executable), *using_archive(java).split(), "-version"], capture_output=True, text=True
    )
    assert started.returncode == 0
    assert started.stdout == ""
    assert started.stderr.startswith("openjdk version") or "version" in started.stderr.splitlines()[0]
    assert len(started.stderr.splitlines()) == 3
