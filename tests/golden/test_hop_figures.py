"""The figures that bounds on hops are built for: average degree, maximum degree and largest diameter at once.

Failing here means that the search within hops got weaker. The bounds leave 1 to 2% to chance.
"""

from __future__ import annotations

from importlib.resources import files

import pytest

import topicloom
from topicloom.overlay.builders.balanced import build_balanced
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.hops import topic_hops
from topicloom.overlay.builders.short_gm import build_short_gm
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

pytestmark = pytest.mark.slow

RSS = {"nodes": 2000, "topics": 100, "subscriptions": "10", "popularity": "zipf:0.5"}
DENSE = {"nodes": 500, "topics": 200, "subscriptions": "10:90", "popularity": "zipf:2"}


@pytest.mark.parametrize(
    ("workload", "average", "maximum", "hops"), [(RSS | {"nodes": 1000}, 5.20, 7, 18), (DENSE, 5.15, 10, 16)]
)
def test_average_and_maximum_degree_within_hops(workload, average, maximum, hops):
    """On smaller tables than those of `python -m benchmarks hops`, which has the figures asked for."""
    interest = generate_interest(workload_from_options(**workload, seed=1))
    build = build_balanced(interest, max_degree=maximum, max_hops=hops)
    assert check_overlay(interest, build.overlay).topic_connected
    assert 2 * build.n_edges / interest.n_nodes <= average and build.degree_max <= maximum
    assert topic_hops(interest, build.overlay).max() <= hops


def test_short_gm_has_about_the_edges_of_gm_and_half_its_hops():
    interest = generate_interest(workload_from_options(**RSS, seed=1))
    gm, short = build_gm(interest), build_short_gm(interest)
    assert short.n_edges <= 1.02 * gm.n_edges and short.report["hops_kept"]
    assert 2 * short.report["hops_max"] <= topic_hops(interest, gm.overlay).max()


def test_the_modules_of_px4_within_seven_hops():
    table = files("topicloom") / "data" / "px4-uorb-pubsub.tsv.gz"
    interest = topicloom.read(str(table), header=False, engine="local")
    build = build_balanced(interest, max_degree=28, max_hops=7)
    assert build.report["hops_kept"] and build.n_edges <= 295 and build.degree_max <= 28
