"""The parts of the lower bounds, each judged by its definition, and checkers that must refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.bounds import (
    largest_overlap,
    pair_charges,
    proved_value,
    proves,
    smallest_cover,
    tree_weights,
)
from strategies import interests
from topicloom.base.progress import SILENT
from topicloom.overlay.kernels.price_bound import UNIT, Duals
from topicloom.overlay.kernels.tree_bound import share_out
from topicloom.overlay.measures.bounds import FULL
from topicloom.overlay.measures.components import find_components
from topicloom.overlay.measures.cover_bound import find_needs, overlaps
from topicloom.overlay.measures.price_bound import is_proof, units_by_component, weigh_pairs
from topicloom.overlay.measures.price_search import PriceSearch
from topicloom.overlay.measures.tree_bound import (
    is_split,
    split_charges,
    tree_units_by_component,
    triangles_of,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options


def duals_for(interest: Interest, draw: st.DataObject) -> Duals:
    """Prices, tolls and allowances on the grid, some pairs within their allowance and some above it."""

    def column(length: int, least: int) -> np.ndarray:
        drawn = draw.draw(st.lists(st.integers(least, 40), min_size=length, max_size=length))
        return np.array(drawn, dtype=np.float64) * 2**28 * UNIT

    return Duals(
        column(interest.n_subscriptions, 1), column(interest.n_nodes, 0), column(interest.n_nodes, 1) * 8
    )


@examples(60)
@given(interest=interests(max_nodes=9))
def test_needs_are_the_smallest_covers(interest):
    """Too high is a false proof; too low, with work to spare, is a lazy one."""
    found = find_needs(interest, most_work=1e9, most_sets=10_000, threads=2)
    assert found.tolist() == [smallest_cover(interest, node) for node in range(interest.n_nodes)]


@examples(30)
@given(interest=interests(), most_sets=st.integers(1, 4), most_work=st.sampled_from([0.0, 30.0, 1e9]))
def test_needs_cut_short_are_never_too_high(interest, most_sets, most_work):
    """A search that runs out of work must fall back to what it has proved."""
    found = find_needs(interest, most_work=most_work, most_sets=most_sets, threads=1)
    assert all(found[node] <= smallest_cover(interest, node) for node in range(interest.n_nodes))


@examples(40)
@given(interest=interests())
def test_overlaps_are_counted_right(interest):
    """An overlap that is missed gives a price that is too high, hence a false bound."""
    found = overlaps(interest, threads=2)
    assert found.tolist() == [largest_overlap(interest, node) for node in range(interest.n_nodes)]


def test_overlaps_cross_words_and_blocks():
    """Topics beyond the first 64 and nodes beyond the first block count too."""
    interest = generate_interest(workload_from_options(300, 150, "3:12", "zipf:0.5", 4))
    wanted = [set(interest.topics_of(node).tolist()) for node in range(300)]
    found = overlaps(interest, threads=2)
    for node in range(0, 300, 19):
        assert found[node] == max(len(wanted[node] & wanted[v]) for v in range(300) if v != node)


@examples(60)
@given(interest=interests(max_nodes=9), draw=st.data())
def test_pairs_are_charged_by_the_definition(interest, draw):
    """A charge that is missed lets false prices pass as a proof."""
    duals = duals_for(interest, draw)
    charges = pair_charges(interest, duals.price, duals.toll)
    heaviest = weigh_pairs(interest, duals, keep=3, threads=2)
    allowed = {pair: duals.allowance[pair[0]] + duals.allowance[pair[1]] for pair in charges}
    for node in range(interest.n_nodes):
        expected = sorted((float(c) / allowed[p] for p, c in charges.items() if node in p), reverse=True)[:3]
        assert heaviest.ratios[node].tolist() == pytest.approx(expected + [0.0] * (3 - len(expected)))
        for other, ratio in zip(heaviest.others[node].tolist(), heaviest.ratios[node], strict=True):
            if ratio > 0:
                pair = (min(node, other), max(node, other))
                assert ratio == float(charges[pair]) / allowed[pair]
    sound = proves(interest, duals.price, duals.toll, duals.allowance)
    assert (heaviest.excess <= 0) == sound == is_proof(interest, duals, threads=2)
    needs = np.arange(interest.n_nodes)
    value = int(units_by_component(interest, duals, needs, find_components(interest)).sum()) * UNIT
    assert value == proved_value(interest, duals.price, duals.toll, needs)


def searched(n_nodes: int) -> tuple[Interest, Duals]:
    """A proof as the search finds it, tolls aside."""
    interest = generate_interest(workload_from_options(n_nodes, 12, "3", "uniform", 2))
    search = PriceSearch(interest, np.zeros(n_nodes, np.int64), threads=1, progress=SILENT)
    return interest, search.run(search.start(), FULL.edge_rounds[:3], move_allowances=False)


def test_one_unit_too_much_is_no_proof():
    """The check is exact: raised to the very allowance prices are a proof, one unit above they are not."""
    interest, duals = searched(30)
    assert is_proof(interest, duals)
    charges = pair_charges(interest, duals.price, duals.toll)
    spare = {pair: duals.allowance[list(pair)].sum() - float(charge) for pair, charge in charges.items()}
    for node in (0, 7, 29):
        toll = duals.toll.copy()
        toll[node] += min(left for pair, left in spare.items() if node in pair)
        assert is_proof(interest, duals._replace(toll=toll))
        toll[node] += UNIT
        assert not is_proof(interest, duals._replace(toll=toll))


def test_figures_that_cannot_be_summed_exactly_are_no_proof():
    """Off the grid, negative, missing or without end: refused, however low they are."""
    interest, duals = searched(30)
    for broken in (
        duals._replace(price=np.zeros_like(duals.price)),  # a price of 0 hides that a topic is shared
        duals._replace(price=-duals.price),
        duals._replace(price=duals.price[:-1]),
        duals._replace(price=np.full_like(duals.price, np.nan)),
        duals._replace(toll=duals.toll - 1.0),
        duals._replace(allowance=np.full_like(duals.allowance, np.inf)),
        duals._replace(price=duals.price + UNIT / 2),
    ):
        assert not is_proof(interest, broken)


@examples(30)
@given(interest=interests(max_nodes=8))
def test_trees_weigh_what_they_weigh_and_splits_are_checked(interest):
    """Trees that are not the cheapest, or charges above the allowance, would prove too much."""
    needs = find_needs(interest, most_work=1e9, most_sets=1000, threads=1)
    search = PriceSearch(interest, needs, threads=1, progress=SILENT)
    duals = search.run(search.start(), FULL.edge_rounds[:2], move_allowances=False)
    triangles, parts = triangles_of(interest), find_components(interest)
    charge = split_charges(interest, triangles, duals, progress=SILENT)
    assert is_split(triangles, duals, charge)
    owner = interest.pair_nodes()
    topics = interest.node_topics
    by_key = {
        (int(topics[low]), *sorted((int(owner[low]), int(owner[high])))): figure
        for low, high, figure in zip(triangles.low, triangles.high, charge, strict=True)
    }
    value = int(tree_units_by_component(interest, triangles, duals, charge, needs, parts).sum()) * UNIT
    tolls = sum(int(k) * float(t) for k, t in zip(needs, duals.toll, strict=True))
    assert value == pytest.approx(float(sum(tree_weights(interest, by_key))) + tolls, abs=1e-12)
    # From the prices on it only goes up, but for what rounding and shared tolls take.
    assert value >= int(units_by_component(interest, duals, needs, parts).sum()) * UNIT - 1e-6
    if len(charge):
        assert not is_split(triangles, duals, charge + 1.5)
        assert not is_split(triangles, duals, charge - 4.0)
        assert not is_split(triangles, duals, charge + UNIT / 2)
        assert not is_split(triangles, duals, charge[:-1])


@examples(60)
@given(
    figures=st.lists(st.floats(0, 3), min_size=1, max_size=8),
    allowed=st.floats(0.01, 2),
)
def test_shares_are_the_nearest_that_sum_right(figures, allowed):
    """Charges moved further than needed lose value; a wrong sum is no split."""
    charge = np.array(figures)
    share_out(
        np.zeros(1, np.int64),
        np.array([0, len(figures)]),
        np.arange(len(figures)),
        np.array([allowed]),
        charge,
    )
    assert charge.sum() == pytest.approx(allowed)
    assert (charge >= 0).all()
    less = np.array(figures) - charge
    kept = charge > 1e-9
    assert np.ptp(less[kept]) < 1e-9  # the same number is taken from all that stay above 0
    assert (np.array(figures)[~kept] <= less[kept][0] + 1e-9).all()
