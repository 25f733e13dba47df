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
        "builders/test_baselines.py",
        "builders/test_cd_oda.py",
        "builders/test_cuts.py",
        "builders/test_divide.py",
        "builders/test_constraints_against_naive.py",
        "builders/test_greedy_against_naive.py",
        "builders/test_minmax_oda.py",
        "builders/test_tree.py",
        "builders/test_two_d_oda.py",
    ],
    "content": [
        "content/test_bounds.py",
        "content/test_clustering.py",
        "content/test_mixing.py",
        "content/test_packing.py",
        "content/brokers/test_matching.py",
    ],
    "kernels": [
        "kernels/test_hashing.py",
        "kernels/test_moves.py",
        "kernels/test_repair.py",
        "kernels/test_weave.py",
    ],
    "measures": [
        "measures/test_against_naive.py",
        "measures/test_bounds.py",
        "measures/test_connectivity.py",
        "measures/test_diameter.py",
        "measures/test_filtering.py",
        "measures/test_profile.py",
    ],
    "others": [
        "simulate/test_views.py",
        "mesh/trees/test_packing.py",
        "mesh/trees/test_spanning.py",
        "workloads/test_draw.py",
    ],
}
"""One process for each of these: starting one takes longer than most of the tests."""


@pytest.mark.slow
@pytest.mark.parametrize("judges", JUDGES)
def test_kernels_without_compilation_pass_their_judges(judges):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-W",
        "error::RuntimeWarning",
        "-m",
        "not spark and not many",
    ]
    done = subprocess.run(
        [*command, *(str(TESTS / judge) for judge in JUDGES[judges])],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "EXAMPLES": "0.3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
