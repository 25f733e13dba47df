"""Kernels are compiled by two processes; the second one must not outlive the first."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from topicloom.cli import warming as warm


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    """On a single core there is no second process."""
    monkeypatch.setattr(warm, "default_threads", lambda: 2)


def test_an_interrupt_ends_the_process_beside():
    """It would go on for half a minute behind the user's back."""
    with pytest.raises(KeyboardInterrupt), warm._meanwhile(warm.warm_content):
        beside = _child("warm_content")
        raise KeyboardInterrupt
    assert not beside.is_running()


def _child(word: str) -> psutil.Process:
    """Our child with this word on its command line, which is empty for a moment after its start."""
    while True:
        for child in psutil.Process().children():
            if word in str(child.cmdline()):
                return child


def test_what_fails_beside_is_done_here_so_that_its_fault_is_told():
    def absent() -> None:
        raise ValueError("told")

    with pytest.raises(ValueError, match="told"), warm._meanwhile(absent):
        pass


@pytest.mark.slow
def test_kernels_that_only_options_call_are_compiled_too():
    """In a process of its own: here other tests have called them."""
    script = """
from topicloom.cli.warming import _warm_overlays
from topicloom.overlay.kernels import lazy_greedy_costs
from topicloom.overlay.kernels import price_bound
from topicloom.base.kernels import random
from topicloom.overlay.kernels import tree_bound
from topicloom.base.progress import SILENT
_warm_overlays(SILENT)
called = [lazy_greedy_costs.choose_costed, price_bound.heaviest_pairs]
called += [tree_bound.cheapest_trees, random._scatter]
assert all(one.signatures for one in called), [one.__name__ for one in called if not one.signatures]
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
