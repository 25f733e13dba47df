"""Kernels are compiled by two processes; the second one must not outlive the first."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from topicloom.base import first_use
from topicloom.cli import warming as warm


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    """On a single core there is no second process."""
    monkeypatch.setattr(warm, "default_threads", lambda: 2)


def test_an_interrupt_ends_the_process_beside():
    """It would go on for half a minute behind the user's back."""
    with pytest.raises(KeyboardInterrupt), warm._meanwhile(warm.warm_content) as beside:
        assert beside is not None and beside.poll() is None
        raise KeyboardInterrupt
    assert not psutil.pid_exists(beside.pid)


def test_what_fails_beside_is_done_here_so_that_its_fault_is_told():
    def absent() -> None:
        raise ValueError("told")

    with pytest.raises(ValueError, match="told"), warm._meanwhile(absent):
        pass


AFTER_WARM = """
import gc
import re
import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher
import topicloom
from topicloom.cli.warming import warm_builders, warm_search_and_judging
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

warm_builders()
warm_search_and_judging()


class Heard(event.Listener):
    def on_start(self, heard):
        raise AssertionError(f"compiled after warm: {heard.data['dispatcher'].py_func.__qualname__}")

    def on_end(self, heard):
        pass


event.register("numba:compile", Heard())
interest = generate_interest(
    workload_from_options(150, topics=60, subscriptions="1:30", popularity="uniform", seed=3)
)
costs = Constraints(priced=NodePairs.of([0, 5], [1, 9], 150), costs=np.array([2.0, 0.5]))
capped = Constraints(caps=np.full(150, 40, np.int32), forbidden=NodePairs.of([2], [3], 150))
for options in (
    {},
    {"max_hops": 9},
    {"constraints": costs},
    {"constraints": costs, "costs": "weight"},
    {"constraints": capped},
    {"algorithm": "gm"},
    {"algorithm": "gm-m", "constraints": costs},
    {"algorithm": "gm-m", "constraints": capped},
    {"algorithm": "short-gm", "max_hops": 8},
):
    built = topicloom.build(interest, **options)
    assert topicloom.verify(interest, built).topic_connected
topicloom.build(interest, start=built)
topicloom.measure(interest, built, certify=True)

kernels = {id(one): one for one in gc.get_objects() if isinstance(one, Dispatcher)}
ours = [one for one in kernels.values() if ".kernels." in one.py_func.__module__]
# Two kinds of heap may share a function; two widths of integers or two literals need no code of their own.
NO_MATTER = re.compile(r"u?int\\d+|Literal\\[.*?\\)(?=[,)])")
alike = [{NO_MATTER.sub("_", str(one)) for one in of.signatures} for of in ours]
doubles = [of.py_func.__qualname__ for of, kinds in zip(ours, alike) if len(kinds) < len(of.signatures)]
assert len(ours) > 100 and not doubles, doubles
"""


@pytest.mark.slow
def test_after_warm_nothing_of_build_verify_and_measure_is_compiled_and_nothing_was_twice():
    """Users would wait for what `warm` was to do, or `warm` would take longer than it need.

    In a process of its own: here other tests have compiled.
    """
    done = subprocess.run([sys.executable, "-c", AFTER_WARM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_first_compilation_is_told_once():
    """A user who waits for half a minute would think that the command hangs."""
    heard = []
    with first_use.told(heard.append):
        first_use.compiling()
        first_use.compiling()
    first_use.compiling()
    assert heard == [first_use.REMARK]


@pytest.mark.slow
def test_compiling_is_heard_and_loading_is_not(tmp_path):
    script = tmp_path / "script.py"  # what is cached must have a file
    script.write_text("""
from topicloom.base import first_use
from topicloom.base.kernels.jit import kernel

def double(x):
    return 2 * x

heard = []
with first_use.told(heard.append):
    assert kernel(double)(3) == 6
assert len(heard) == 1, heard
taken = first_use.seconds_compiled()
assert taken > 0
double(3)
assert first_use.seconds_compiled() == taken
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
