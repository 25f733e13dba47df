"""The kernels as plain Python, judged by the same tests: compiled code hides a wrong index or an overflow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


JUDGES = {
    "builders": [
        "overlay/builders/test_baselines.py",
        "overlay/builders/test_cd_oda.py",
        "overlay/builders/test_exact_program.py",
        "overlay/builders/test_divide.py",
        "overlay/builders/test_constrained_against_naive.py",
        "overlay/builders/test_greedy.py",
        "overlay/builders/test_minmax_oda.py",
        "overlay/builders/test_serving_tree.py",
        "overlay/builders/test_two_d_oda.py",
    ],
    "content": [
        "content/planners/test_bounds.py",
        "content/planners/test_clustering.py",
        "content/planners/test_steiner_mixing.py",
        "content/planners/test_placement.py",
        "content/brokers/test_matching.py",
    ],
    "kernels": [
        "base/kernels/test_bits.py",
        "base/kernels/test_hashing.py",
        "overlay/kernels/test_moves.py",
        "overlay/kernels/test_repair.py",
        "overlay/kernels/test_overlay_trees.py",
    ],
    "measures": [
        "overlay/measures/test_against_naive.py",
        "overlay/measures/test_bounds.py",
        "overlay/measures/test_connectivity.py",
        "overlay/measures/test_diameter.py",
        "overlay/measures/test_components.py",
        "overlay/measures/test_profile.py",
        "overlay/measures/test_splits.py",
    ],
    "others": [
        "spidercast/simulator/test_given_views.py",
        "mesh/topic_trees/test_packing.py",
        "mesh/topic_trees/test_spanning.py",
        "overlay/workloads/test_generate.py",
    ],
}
"""One process for each of these: starting one takes longer than most of the tests."""


def test_the_judges_are_there():
    """The fast tests say so when one was renamed."""
    assert [judge for judges in JUDGES.values() for judge in judges if not (TESTS / judge).is_file()] == []


@pytest.mark.slow
@pytest.mark.parametrize("judges", JUDGES)
def test_kernels_without_compilation_pass_their_judges(judges):
    command = [sys.executable, "-m", "pytest", "-x", "-W", "error::RuntimeWarning"]
    done = subprocess.run(
        [*command, "-m", "not spark and not many", *(str(TESTS / judge) for judge in JUDGES[judges])],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "EXAMPLES": "0.15"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
