"""Tables II to IV of [Chen2010] (V=1,000, T=200, sizes 10:90) for the cells that reproduce.

Failing here means that DCB-M or DCBR-M is not the published one any more. Averages may differ by 3%, maxima
by 1.5: other random interests and another tie rule. The paper does not say which p it used; the p that its
section V leads to is 7 on the uniform workload, and that also gives the printed |R|/|L|.

Not reproducible, whatever p is (docs/papers.md): d of GM-M in Table II, which is a copy of its D row; all
of Table III, which fits another zipf exponent than the printed one; |R|/|L| of Tables III and IV (0.074 and
0.075), which correct representatives with lambda = 3 cannot have; the maxima 10.8 of Table IV, where ours
are near 10.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

from topicloom.overlay.builders.dcb_m import build_dcb_m, build_dcbr_m
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

pytestmark = pytest.mark.slow

published = partial(build_dcbr_m, inner="gm-m", lambda_=3)

SEEDS = range(4)


@cache
def chen(popularity: str, seed: int) -> Interest:
    return generate_interest(workload_from_options(1000, popularity=popularity, seed=seed))


@cache
def means(build, popularity: str, p: int | str) -> dict[str, float]:
    """Average degree, maximum degree and the report, mean over the seeds."""
    builds = [build(chen(popularity, seed), seed=seed, p=p) for seed in SEEDS]
    degrees = [found.overlay.degrees() for found in builds]
    reports = {
        key: float(np.mean([found.report[key] for found in builds]))
        for key in builds[0].report
        if key != "levels"
    }
    average, maximum = ([float(f(d)) for d in degrees] for f in (np.mean, np.max))
    return {**reports, "average": float(np.mean(average)), "maximum": float(np.mean(maximum))}


def test_dcb_m_on_the_uniform_workload():
    """Table II prints D 10.29, d 8.170; our runs give 10.75 and 8.15."""
    found = means(build_dcb_m, "chen-uniform", p=7)
    assert found["average"] == pytest.approx(8.15, rel=0.03)
    assert found["maximum"] == pytest.approx(10.75, abs=1.5)


def test_dcbr_m_on_the_uniform_workload():
    """Table II prints D 10.88, d 8.188, |R|/|L| 0.142; our runs give 11.05, 8.17 and 0.149."""
    found = means(published, "chen-uniform", p=7)
    assert found["average"] == pytest.approx(8.17, rel=0.03)
    assert found["maximum"] == pytest.approx(11.05, abs=1.5)
    assert found["representatives"] / found["light"] == pytest.approx(0.149, rel=0.05)


def test_the_p_of_section_v_on_the_uniform_workload():
    """Least running time by Lemma 7 at 7 groups of 1,000 nodes; figure 4 has its lowest point near 10."""
    found = means(published, "chen-uniform", p="paper")
    assert 6 <= found["groups"] <= 8


def test_representatives_cost_next_to_nothing():
    """Tables II and IV: DCBR-M has the average degree of DCB-M within 1%."""
    for popularity in ("chen-uniform", "chen-exp"):
        every, some = (means(build, popularity, p=7)["average"] for build in (build_dcb_m, published))
        assert some == pytest.approx(every, rel=0.01)


def test_dcbr_m_on_the_exponential_workload():
    """Table IV prints d 4.499 where GM-M has 3.93; at the p of section V ours is 2.5% lower."""
    found = means(published, "chen-exp", p="paper")
    assert found["average"] == pytest.approx(4.499, rel=0.035)
