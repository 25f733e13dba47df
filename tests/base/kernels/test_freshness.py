"""Cached machine code must not outlive the sources it was made from, its callees' in other files included."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba.core.caching import IndexDataCacheFile

import topicloom
from topicloom.base.kernels import jit
from topicloom.base.kernels.freshness import _sources, keep_fresh, stamp_of
from topicloom.overlay.kernels import best_partners

CALLEE = """
from topicloom.base.kernels.jit import inlined, part

@inlined
def step():
    return {step}

@part
def callee(x):
    return x + step()
"""
CALLER = """
from topicloom.base.kernels.jit import kernel
from topicloom.base.kernels.loop import callee

@kernel
def caller(x):
    return callee(x)
"""


def _call(root: Path) -> tuple[str, int]:
    """What the caller gives in a process of its own, and how often its code was taken from the cache."""
    code = (
        "from topicloom.product.kernels.loop import caller; "
        "print(caller(1), sum(caller.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    given, hits = done.stdout.split()
    return given, int(hits)


@pytest.mark.slow
def test_a_kernel_is_compiled_again_when_its_callee_in_another_folder_changes(tmp_path):
    """The callee is of the shared base, and its file has the name of the caller's."""
    base, product = (tmp_path / "topicloom" / name / "kernels" for name in ("base", "product"))
    for folder in (base, product):
        folder.mkdir(parents=True)
        for package in (folder, folder.parent, folder.parent.parent):
            (package / "__init__.py").write_text("")
    for name in ("kernels/jit.py", "kernels/freshness.py", "first_use.py"):
        (base.parent / name).write_bytes((Path(jit.__file__).parents[1] / name).read_bytes())
    (product / "loop.py").write_text(CALLER)
    (base / "loop.py").write_text(CALLEE.format(step=1))
    assert _call(tmp_path) == ("2", 0)
    assert _call(tmp_path) == ("2", 1), "nothing changed: the cache is there to be used"
    (base / "loop.py").write_text(CALLEE.format(step=10))
    assert _call(tmp_path) == ("11", 0), "the caller went on with code of the old callee"


def test_an_index_of_other_sources_is_not_unpickled(tmp_path):
    """It may name a class that the package had before an upgrade."""
    file = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    old = pickle.dumps(file._version) + b"a class that is not there any more"
    keep_fresh(SimpleNamespace(_cache=SimpleNamespace(_cache_file=file)), stamp_of.__wrapped__)
    Path(file._index_path).write_bytes(old)
    assert file._load_index() == {}
    file._save_index({"key": "data"})
    assert file._load_index() == {"key": "data"}


def test_the_stamp_does_not_depend_on_where_or_when_the_files_were_written(tmp_path):
    here, package = Path(best_partners.__file__), Path(topicloom.__file__).parent
    copy = tmp_path / "topicloom"
    for path in package.rglob("kernels/*.py"):
        (copy / path.relative_to(package)).parent.mkdir(parents=True, exist_ok=True)
        (copy / path.relative_to(package)).write_bytes(path.read_bytes())
    assert stamp_of(copy / here.relative_to(package)) == stamp_of(here)
    bits = copy / "base" / "kernels" / "jit.py"
    bits.write_bytes(bits.read_bytes() + b"# changed\n")
    stamp_of.cache_clear()
    assert stamp_of(copy / here.relative_to(package)) != stamp_of(here)


def test_kernels_beside_the_package_know_what_they_take_from_it(tmp_path):
    """Benchmarks have some; the checkout around them has the package's name as a rule."""
    beside = tmp_path / "topicloom" / "benchmarks" / "mine.py"
    beside.parent.mkdir(parents=True)
    beside.write_text("from topicloom.overlay.kernels.best_partners import scan\n")
    assert {"mine.py", "overlay/kernels/best_partners.py", "base/kernels/jit.py"} <= _sources(beside).keys()
