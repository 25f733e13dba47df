"""Façades have every name they promise, load nothing early, and readers are sent nowhere deeper."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("overlay", "spidercast", "content", "mesh", "spark")
FACADES = ["topicloom", *(f"topicloom.{name}" for name in NAMES)]
DEEPER = re.compile(
    r"(?:from|import) (topicloom\.\w+\.[\w.]+|topicloom\.(?:base|tables|wire|simulation|api)\b)"
)


@pytest.mark.parametrize("name", FACADES)
def test_every_name_is_there_and_no_other(name):
    facade = import_module(name)
    for word in facade.__all__:
        assert getattr(facade, word) is not None
    assert {word for word in dir(facade) if not word.startswith("_")} == set(facade.__all__) - {"__version__"}
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nonsense'"):
        _ = facade.nonsense


def test_importing_them_loads_no_heavy_library():
    """A façade that loads its products would make every command slow."""
    heavy = ("numba", "pyspark", "pyarrow", "altair", "highspy", "paho", "nats", "zenoh")
    script = f"import sys, {', '.join(FACADES)}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_readers_import_from_facades_alone():
    shown = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    found = [(path.name, deep) for path in shown for deep in DEEPER.findall(path.read_text())]
    assert found == []
