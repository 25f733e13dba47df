"""The kernels as plain Python must agree with the reference too: compiled code hides index errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent

SCRIPT = """
import random, sys
sys.path.insert(0, sys.argv[1])
from naive.greedy import naive_gm, naive_gm_m
import numba
assert numba.config.DISABLE_JIT
import topicloom.builders.greedy as greedy
from topicloom.builders.gm import choose_gm
from topicloom.builders.gm_m import choose_gm_m
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Stopwatch

for seed in range(60):
    draw = random.Random(seed)
    sets = [draw.sample(range(8), draw.randint(1, 6)) for _ in range(draw.randint(1, 8))]
    interest = Interest.from_pairs(
        [(f"n{v:02}", f"t{t}") for v in range(draw.randint(1, 12)) for t in draw.choice(sets)]
    )
    greedy.KEPT, greedy.JOINT_SCAN = draw.choice([1, 3, 64]), draw.choice([1, 256])
    for choose, naive in ((choose_gm, naive_gm), (choose_gm_m, naive_gm_m)):
        chosen = zip(*choose(interest, watch=Stopwatch(SILENT), threads=1), strict=True)
        assert [tuple(map(int, step)) for step in chosen] == naive(interest), seed
print("agreed")
"""


def test_kernels_without_compilation_agree_with_the_reference():
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT, str(TESTS)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "agreed\n", done.stderr
