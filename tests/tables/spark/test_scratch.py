"""What killed runs leave in the temporary folder is removed by the next one, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from topicloom.tables.spark.scratch import PREFIX, new_scratch


def test_only_folders_of_processes_that_are_gone_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = {
        f"{PREFIX}{gone.pid}-a": False,
        f"{PREFIX}{os.getpid()}-b": True,
        f"{PREFIX}other": True,
        "x": True,
    }
    for name in names:
        (tmp_path / name / "inner").mkdir(parents=True)
    made = new_scratch()
    assert made.is_dir() and made.name.startswith(f"{PREFIX}{os.getpid()}-")
    assert {name: (tmp_path / name).exists() for name in names} == names
