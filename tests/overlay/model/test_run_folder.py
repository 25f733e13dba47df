"""Phases on disk are whole or not there; results change places with what was there before in one step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import topicloom.base.atomic_write as atomic
from topicloom.base.atomic_write import remove_left_over, replacing
from topicloom.base.summaries import Summary
from topicloom.errors import InputError
from topicloom.overlay.model.run import TablesOnly
from topicloom.overlay.model.run_folder import open_run


class Rows(Summary, frozen=True):
    rows: int


def opened(out, request=None, *, resume=False):
    return open_run(out, request or {}, resume=resume, now=lambda: 0.0)


def test_a_phase_that_fails_leaves_nothing_and_is_done_again(tmp_path):
    out, calls = tmp_path / "out", []

    def work(folder):
        calls.append(folder)
        (Path(folder) / "table").write_text("half")
        if len(calls) == 1:
            raise InputError("no")
        return Rows(3)

    with opened(out) as run:
        with pytest.raises(InputError):
            run.keep("first", Rows, work)
        assert run.record("first", Rows) is None and not list(run.root.glob(".tmp-*"))
        assert run.keep("first", Rows, work).rows == 3
    with opened(out, resume=True) as run:
        assert run.keep("first", Rows, work) == Rows(3) and run.seconds() == {"first": 0.0}
        assert len(calls) == 2 and Path(run.path("first", "table")).read_text() == "half"
        with pytest.raises(InputError, match="phase second is gone"):
            run.require("second", Rows)


def test_a_folder_under_its_temporary_name_is_never_a_phase(tmp_path):
    """What SIGKILL leaves: tables and even a record, but no rename."""
    out = tmp_path / "out"
    with opened(out) as run:
        run.keep("first", TablesOnly, lambda folder: TablesOnly())
        half = run.root / ".tmp-second"
        half.mkdir()
        (half / "record.json").write_text("{}")
        assert run.whole() == ["first"] and run.record("second", Rows) is None


def test_a_phase_that_is_half_removed_is_none(tmp_path, monkeypatch):
    """The process may be killed while phases are removed: what is left must not be taken for a table."""

    def killed(folder, **_):
        Path(folder, "table").unlink()
        raise SystemExit

    with opened(tmp_path / "out") as run:
        run.keep("first", Rows, lambda folder: Path(folder, "table").touch() or Rows(3))
        with monkeypatch.context() as patched:
            patched.setattr("shutil.rmtree", killed)
            with pytest.raises(SystemExit):
                run.forget()
        assert run.whole() == [] and run.record("first", Rows) is None


@pytest.mark.parametrize("content", [b"{", b"{}", b'{"rows": "\xff"}'])
def test_a_damaged_record_is_one_sentence(tmp_path, content):
    with opened(tmp_path / "out") as run:
        run.keep("first", Rows, lambda folder: Rows(3))
        (run.root / "first" / "record.json").write_bytes(content)
        with pytest.raises(InputError, match=r"record of phase first is damaged: remove .* and begin anew"):
            run.record("first", Rows)


@pytest.mark.parametrize("one_step", [True, False])
def test_a_full_folder_is_replaced(tmp_path, monkeypatch, one_step):
    if not one_step:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").touch()
    with replacing(out) as folder:
        folder.mkdir()
        (folder / "new").touch()
    assert [path.name for path in out.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_names_change_places_in_one_step_here(tmp_path):
    """On Linux there is no moment without the old or the new result."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    assert atomic._exchange(tmp_path / "one", tmp_path / "other")
    assert (tmp_path / "one" / "other").exists() and (tmp_path / "other" / "one").exists()


def test_what_killed_runs_left_beside_a_result_is_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = {
        f".tmp-{gone.pid}-out": False,
        f".old-{gone.pid}-out": False,
        f".tmp-{os.getpid()}-out": True,
        f".tmp-{gone.pid}-other-out": True,
        ".tmp-x-out": True,
    }
    for name in names:
        (tmp_path / name).mkdir()
    remove_left_over(tmp_path / "out")
    assert {name: (tmp_path / name).exists() for name in names} == names
