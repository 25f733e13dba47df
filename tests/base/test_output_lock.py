"""Of two commands that write to one place the second is refused, until the first has ended."""

from __future__ import annotations

import threading

import pytest

from topicloom.base.output_lock import _lock_path, output_locked
from topicloom.cli.main import execute
from topicloom.errors import InputError


def test_the_second_command_is_refused_with_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("node,topic\na,x\nb,x\n")
    build = ["build", "t.csv", "--engine", "local", "--quiet", "--out"]
    with output_locked(tmp_path / "b", "it"):
        assert execute([*build, "./b"]) == 2
        told = capsys.readouterr().err
        assert told == "topicloom: another command writes to --out b: wait for it, or name another place\n"
        assert execute([*build, "c"]) == 0
    assert execute([*build, "b"]) == 0
    assert execute(["generate", "b", "--nodes", "1"]) == 2
    assert not _lock_path(tmp_path / "b").exists()


def test_one_of_many_that_begin_at_once_goes_on(tmp_path):
    """A lock on a file that its holder has just removed keeps nobody away, so it is none."""
    inside, wrong = threading.Lock(), []

    def work() -> None:
        for _ in range(50):
            try:
                with output_locked(tmp_path, "it"):
                    if not inside.acquire(blocking=False):
                        wrong.append("two at once")
                    else:
                        inside.release()
            except InputError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_without_a_place_for_locks_work_goes_on(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with output_locked(tmp_path / "b", "it"), output_locked(tmp_path / "b", "it"):
        pass
    with pytest.raises(RuntimeError), output_locked(tmp_path / "b", "it"):
        raise RuntimeError
