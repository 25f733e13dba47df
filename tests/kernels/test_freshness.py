"""Cached machine code must not outlive the sources it was made from, its callees' in other files included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from topicloom.kernels import jit, units
from topicloom.kernels.freshness import stamp_of

PACKAGE = "topicloom/kernels"
CALLEE = """
from topicloom.kernels.jit import kernel

@kernel
def callee(x):
    return x + {step}
"""
CALLER = """
from topicloom.kernels.callee import callee
from topicloom.kernels.jit import kernel

@kernel
def caller(x):
    return callee(x)
"""


def _call(root: Path) -> tuple[str, int]:
    """What the caller gives in a process of its own, and how often its code was taken from the cache."""
    code = (
        "from topicloom.kernels.caller import caller; print(caller(1), sum(caller.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    given, hits = done.stdout.split()
    return given, int(hits)


@pytest.mark.slow
def test_a_kernel_is_compiled_again_when_its_callee_in_another_file_changes(tmp_path):
    folder = tmp_path / PACKAGE
    folder.mkdir(parents=True)
    for empty in (folder.parent / "__init__.py", folder / "__init__.py"):
        empty.write_text("")
    for name in ("jit.py", "freshness.py"):
        (folder / name).write_bytes(Path(jit.__file__).with_name(name).read_bytes())
    (folder / "caller.py").write_text(CALLER)
    (folder / "callee.py").write_text(CALLEE.format(step=1))
    assert _call(tmp_path) == ("2", 0)
    assert _call(tmp_path) == ("2", 1), "nothing changed: the cache is there to be used"
    (folder / "callee.py").write_text(CALLEE.format(step=10))
    assert _call(tmp_path) == ("11", 0), "the caller went on with code of the old callee"


def test_the_stamp_does_not_depend_on_where_or_when_the_files_were_written(tmp_path):
    here = Path(units.__file__)
    for path in here.parent.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert stamp_of(tmp_path / here.name) == stamp_of(here)
