"""Divide and conquer must take exactly the edges of the slow version, and always be topic-connected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.greedy as greedy
from drawing import examples
from naive.divide import naive_divide, naive_eta, naive_groups, naive_rep_set, naive_split
from naive.measures import topic_component_counts
from parts import called
from strategies import interests
from topicloom.base.progress import Silent
from topicloom.errors import InputError, Interrupted, UsageError
from topicloom.overlay import Interest, Overlay, choose_representatives, combine_overlays, split_bulk
from topicloom.overlay.builders.dcb_m import build_dcb_m, build_dcbr_m
from topicloom.overlay.builders.divide.combine_overlays import join
from topicloom.overlay.builders.divide.groups import (
    SINGLE,
    deal_members,
    fewest_groups,
    group_sizes,
    hash_ranks,
)
from topicloom.overlay.builders.divide.local import LocalDivide
from topicloom.overlay.builders.divide.phases import build_inner
from topicloom.overlay.builders.divide.plan import DividePlan, DivideSettings, LevelSizes, plan_levels
from topicloom.overlay.builders.divide.run import nodes_known, pn_ratio
from topicloom.overlay.builders.gm import build_gm, build_gm_m
from topicloom.overlay.builders.registry import parse_parameters
from topicloom.overlay.kernels.greedy_state import join_groups, new_state
from topicloom.overlay.kernels.greedy_state import merge as merge_part
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.instances import lemma_8

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

published = partial(build_dcbr_m, inner="gm-m", lambda_=3)  # DCBR-M as it is printed
merge = called(merge_part)
# Without the compiler random numbers are numpy's, which warn of the wrap-around that is meant.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

ETA = st.one_of(st.just("auto"), st.integers(0, 7))


def edges_of(overlay: Overlay) -> set[tuple[int, int]]:
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


def topic_connected(interest: Interest, overlay: Overlay) -> bool:
    return all(count <= 1 for count in topic_component_counts(interest, overlay))


def inner_overlay(group: Interest) -> Overlay:
    return Overlay.from_edges(group.node_ids, *build_inner(group))


def inner_overlay_of(group: Interest, inner: str) -> Overlay:
    return Overlay.from_edges(group.node_ids, *build_inner(group, inner))


def group_of(node_ids, n_groups, seed):
    """The group of each node at level 0, where no node belongs to a clump."""
    return deal_members(np.full(len(node_ids), SINGLE), hash_ranks(node_ids, seed), 0, n_groups)


def divide_nodes(interest: Interest, nodes: np.ndarray, p: int, seed: int) -> list[Interest]:
    group = group_of(interest.node_ids.take(pa.array(nodes)), p, seed)
    return [interest.restrict(nodes[group == number]) for number in range(p)]


# --- the whole builders ----------------------------------------------------------------------------


@examples(150)
@given(interests(), ETA, st.integers(1, 5), st.integers(1, 3), st.integers(0, 3))
def test_the_edges_are_those_of_the_reference(interest, eta, p, coverage, seed):
    dcb = build_dcb_m(interest, eta=eta, p=p, seed=seed).overlay
    assert edges_of(dcb) == naive_divide(interest, eta=eta, p=p, seed=seed)
    dcbr = published(interest, eta=eta, p=p, lambda_=coverage, seed=seed).overlay
    assert edges_of(dcbr) == naive_divide(interest, eta=eta, p=p, coverage=coverage, seed=seed)


@examples(200)
@given(
    interests(max_nodes=24, max_topics=8),
    ETA,
    st.one_of(st.just("auto"), st.integers(1, 8)),
    st.integers(1, 2),
    st.integers(1, 10),
    st.integers(0, 3),
)
def test_the_edges_of_many_levels_are_those_of_the_reference(interest, eta, p, coverage, limit, seed):
    options = {"eta": eta, "p": p, "seed": seed, "kernel_nodes": limit}
    dcbr = published(interest, lambda_=coverage, **options).overlay
    assert edges_of(dcbr) == naive_divide(interest, coverage=coverage, **options)
    assert topic_connected(interest, dcbr)
    dcb = build_dcb_m(interest, **options).overlay
    assert edges_of(dcb) == naive_divide(interest, **options)


@examples(60)
@given(interests(max_nodes=24, max_topics=8), st.integers(1, 5), st.integers(1, 3), st.integers(0, 3))
def test_groups_and_levels_by_gm_are_those_of_the_reference(interest, p, coverage, seed):
    options = {"p": p, "seed": seed, "kernel_nodes": 6}
    built = build_dcbr_m(interest, lambda_=coverage, inner="gm", **options).overlay
    assert edges_of(built) == naive_divide(interest, coverage=coverage, inner="gm", **options)


@examples(60)
@given(
    interests(max_nodes=40, max_topics=12),
    st.integers(1, 4),
    st.sampled_from(["gm", "gm-m", "balanced"]),
    st.sampled_from([0, 3]),
    st.integers(0, 3),
)
def test_a_polished_overlay_is_never_worse(interest, p, inner, moves, seed):
    options = {"p": p, "seed": seed, "inner": inner, "lambda_": 2}
    plain = build_dcbr_m(interest, polish="none", **options)
    found = build_dcbr_m(interest, polish=moves, **options)
    assert topic_connected(interest, found.overlay)
    assert found.overlay.n_edges <= plain.overlay.n_edges
    before, after = plain.overlay.degrees(), found.overlay.degrees()
    told = found.report.get("polish")
    if told is None:
        assert found.report["light"] == 0
        return
    assert (after <= np.maximum(before, told["cap"])).all()
    assert told["edges_saved"] == plain.overlay.n_edges - found.overlay.n_edges
    assert (told["degree_max_before"], told["degree_max"]) == (before.max(), after.max())
    assert after.max() <= before.max() and told["cap"] <= before.max()
    assert found.report["inner_edges"] + found.report["outer_edges"] == found.overlay.n_edges
    again = build_dcbr_m(interest, polish=moves, threads=1, **options)
    assert again.overlay == found.overlay


@pytest.mark.many
def test_polishing_brings_hubs_down_and_keeps_what_joins_the_groups():
    """Checked where there is something to do: gm in groups makes hubs, and edges that nobody needs."""
    workload = workload_from_options(600, 60, "5:20", "zipf:1", seed=5)
    interest = generate_interest(workload)
    plain, relieved, searched = (
        build_dcbr_m(interest, p=3, seed=1, inner="gm", polish=polish) for polish in ("none", 0, 20)
    )
    cap = relieved.report["polish"]["cap"]
    before, after = (int((found.overlay.degrees() > cap).sum()) for found in (plain, relieved))
    assert 2 * after < before
    assert searched.overlay.n_edges < 0.99 * relieved.overlay.n_edges
    assert all(topic_connected(interest, build.overlay) for build in (plain, relieved, searched))
    assert plain.report["outer_edges"] == searched.report["outer_edges"]


@pytest.mark.many
def test_gm_under_a_cap_is_gm_where_few_nodes_are_above_and_gm_m_where_caps_are_dear():
    chain = Interest.from_pairs([(f"n{v:02}", f"t{t}") for v in range(40) for t in (v, v + 1)])
    star = Interest.from_pairs(
        [(f"n{v:02}", f"t{v}") for v in range(40)] + [("hub", f"t{v}") for v in range(40)]
    )
    for interest in (chain, star):
        gm = build_gm(interest).overlay
        found = Overlay.from_edges(interest.node_ids, *build_inner(interest, "balanced"))
        assert found == gm
    interest = generate_interest(workload_from_options(500, 200, "10:90", "uniform", seed=2))
    gm, capped = build_gm(interest).overlay, inner_overlay_of(interest, "balanced")
    assert capped.degrees().max() < gm.degrees().max() and topic_connected(interest, capped)


@examples(100)
@given(interests(max_nodes=40, max_topics=12), ETA, st.integers(1, 5), st.integers(1, 3), st.integers(1, 3))
def test_every_overlay_is_topic_connected_for_any_number_of_threads(interest, eta, p, coverage, threads):
    options = {"eta": eta, "p": p, "lambda_": coverage}
    with patch.multiple(greedy, LEAST_WORK=1.0):  # otherwise so small a scan stays on one thread
        dcbr = published(interest, **options, threads=threads).overlay
        dcb = build_dcb_m(interest, eta=eta, p=p, threads=threads).overlay
    assert topic_connected(interest, dcbr) and topic_connected(interest, dcb)
    assert dcbr == published(interest, **options, threads=1).overlay
    assert dcb == build_dcb_m(interest, eta=eta, p=p, threads=1).overlay


@examples(60)
@given(interests(max_nodes=20))
def test_three_ways_to_be_gm_m(interest):
    """One group of all nodes, groups of one node each [Chen2010, VI-A], bulk nodes only: all are GM-M.

    Only inside a group are twins linked as trees: nodes that are joined later need not be alike.
    """
    ways = {"tree": [{"eta": 10**6, "p": 1}], "path": [{"eta": 10**6, "p": 10**6}, {"eta": 0}]}
    for twins, options in ((twins, options) for twins, some in ways.items() for options in some):
        expected = build_gm_m(interest, twins=twins).overlay
        assert build_dcb_m(interest, **options).overlay == expected
        assert published(interest, **options).overlay == expected


def test_a_topic_of_bulk_nodes_and_one_group_is_joined():
    """Algorithm 12 as printed looks for shared topics among groups only and leaves such a topic split."""
    light = [(f"a{v}", "x") for v in range(4)]
    interest = Interest.from_pairs([*light, ("b", "x"), ("b", "y"), ("b", "z")])
    build = published(interest, eta=1, p=1, lambda_=1)
    assert build.report["bulk"] == 1 and build.report["representatives"] == 1
    assert topic_connected(interest, build.overlay)


@pytest.mark.parametrize("h", [4, 6])
def test_lemma_8_bulk_nodes_are_not_dealt_out(h):
    """[Chen2010, Lemma 8]: the root takes |T| edges in a group with the leaves, a few when held back."""
    interest, topics = lemma_8(h), 2**h
    names = interest.node_ids.to_pylist()
    leaves = [v for v, name in enumerate(names) if name.startswith(f"v{h:02}")]

    def joined(groups: list[list[int]]) -> Overlay:
        return combine_overlays(interest, [inner_overlay(interest.restrict(np.array(g))) for g in groups])

    naive = joined([[0, *leaves], [v for v in range(1, len(names)) if v not in leaves]])
    assert naive.degrees().argmax() == 0 and naive.degrees()[0] >= topics
    bulk = split_bulk(interest).bulk.tolist()
    assert 0 in bulk and not set(bulk) & set(leaves)
    careful = joined([leaves, [v for v in range(len(names)) if v not in leaves and v not in bulk]])
    assert topic_connected(interest, careful)
    assert careful.degrees().max() <= 5
    assert published(interest, p=2).overlay.degrees().max() <= 5


def test_the_report_says_how_the_nodes_were_divided():
    interest = Interest.from_pairs([(f"n{v:03}", f"t{v * k % 37}") for v in range(200) for k in range(1, 6)])
    build = published(interest, p=4, seed=3)
    report = build.report
    assert report["bulk"] + report["light"] == 200 and report["bulk"] <= 40
    assert report["groups"] == 4 and 0 < report["representatives"] < report["light"]
    assert report["inner_edges"] + report["outer_edges"] == build.overlay.n_edges
    others = report["representatives"] * 3 / 4  # Equation 12, which takes all rep-sets for equally large
    assert report["pn_ratio"] == pytest.approx(
        (report["light"] / 4 + report["bulk"] + others) / 200, rel=0.05
    )
    assert list(build.seconds) == ["split nodes", "choose representatives", "conquer", "combine 1"]
    assert [level["phase"] for level in report["levels"]] == ["conquer", "combine 1"]
    assert [level["groups"] for level in report["levels"]] == [4, 1]
    assert report["levels"][1]["nodes"] == report["bulk"] + report["representatives"]
    asked = {"eta": "auto", "lambda_": 3, "p": 4, "kernel_nodes": 50_000}
    assert build.parameters == asked | {"inner": "gm-m", "polish": "auto"}
    assert build_dcb_m(interest, kernel_nodes=50).report["groups"] == -(-report["light"] // 50)


def test_lambda_is_called_lambda_on_the_command_line():
    assert parse_parameters("dcbr-m", ["lambda=2", "kernel-nodes=9", "p=paper"]) == {
        "eta": "auto",
        "lambda_": 2,
        "p": "paper",
        "kernel_nodes": 9,
        "inner": "balanced",
        "polish": "auto",
    }


def test_a_stop_request_ends_the_groups():
    class Stop(Silent):
        def should_stop(self) -> bool:
            return True

    interest = Interest.from_pairs([(f"n{v}", "x") for v in range(20)])
    for threads in (1, 2):
        with pytest.raises(Interrupted):
            published(interest, p=4, threads=threads, progress=Stop())


# --- bulk and light --------------------------------------------------------------------------------


@examples(60)
@given(interests(max_nodes=20), ETA)
def test_bulk_and_light_nodes_are_those_of_the_reference(interest, eta):
    split = split_bulk(interest, eta)
    assert split.eta == (naive_eta(interest) if eta == "auto" else eta)
    assert (split.bulk.tolist(), split.light.tolist()) == naive_split(interest, split.eta)


# --- groups ----------------------------------------------------------------------------------------


@examples(60)
@given(interests(max_nodes=20), st.integers(1, 9), st.integers(-2, 2**63))
def test_groups_are_equal_blocks_of_the_hashed_order(interest, p, seed):
    nodes = np.arange(interest.n_nodes)
    p = min(p, len(nodes))
    groups = divide_nodes(interest, nodes, p, seed)
    names = interest.node_ids.to_pylist()
    expected = naive_groups(interest, nodes.tolist(), p, seed)
    assert [group.node_ids.to_pylist() for group in groups] == [[names[v] for v in g] for g in expected]
    sizes = [group.n_nodes for group in groups]
    assert max(sizes) - min(sizes) <= 1


def test_the_hashed_order_is_that_of_spark(spark: SparkSession):
    """Otherwise the same seed would give other groups on Spark."""
    names = sorted(["é", "日本", *(f"node-{v}" for v in range(60))], key=str.encode)
    frame = spark.createDataFrame([(name,) for name in names], "node string")
    ordered = frame.selectExpr("node", "xxhash64(node, cast(11 as bigint)) as h").orderBy("h").collect()
    rank = {row["node"]: place for place, row in enumerate(ordered)}
    group = group_of(pa.array(names), len(names), seed=11)
    assert group.tolist() == [rank[name] for name in names]


def test_the_seed_deals_the_nodes_anew():
    names = pa.array([f"n{v:03}" for v in range(100)])
    assert group_of(names, 5, seed=1).tolist() != group_of(names, 5, seed=2).tolist()


def test_the_papers_p_is_the_cheapest_or_next_to_it():
    """Otherwise `p=paper` does not minimise (|B| + |R|)^2 + |L|^2 / p."""
    interest = Interest.from_pairs(
        [(f"n{v:03}", f"t{(v * k + k * k) % 29:02}") for v in range(200) for k in range(1, 4 + v % 5)]
    )
    split = split_bulk(interest)

    def cost(p: int) -> float:
        engine = LocalDivide(interest, split, lambda_=3, seed=0)
        return (len(split.bulk) + sum(engine.represent((p,)).representatives)) ** 2 + len(
            split.light
        ) ** 2 / p

    costs = {p: cost(p) for p in range(1, 25)}
    chosen = published(interest, p="paper").report["groups"]
    assert chosen > 1 and costs[chosen] <= 1.05 * min(costs.values())
    assert published(interest, p="paper", kernel_nodes=10).report["groups"] >= len(split.light) / 10


# --- levels ----------------------------------------------------------------------------------------


class Claims:
    """An engine that builds nothing: what share of a group of n nodes represents it is given."""

    def __init__(self, n_light: int, n_bulk: int, share: Callable[[int], float]) -> None:
        self.n_light, self.n_bulk, self.share = n_light, n_bulk, share
        self.known: dict[tuple[int, ...], LevelSizes] = {}

    def represent(self, groups: tuple[int, ...]) -> LevelSizes:
        if len(groups) == 1:
            nodes = group_sizes([], self.n_light, groups[0])
        else:
            singles = self.n_bulk if len(groups) == 2 else 0
            nodes = group_sizes(self.known[groups[:-1]].representatives, singles, groups[-1])
        counts = tuple(int(n * self.share(int(n))) for n in nodes)
        self.known[groups] = LevelSizes(tuple(nodes.tolist()), counts)
        return self.known[groups]

    def build(self, groups: tuple[int, ...], level: int) -> int:
        raise NotImplementedError


def test_no_kernel_call_holds_more_than_the_limit():
    """A million nodes of which a group leaves 2,500 representatives: two levels and a small last call."""
    plan = plan_levels(Claims(1_000_000, 0, lambda n: 2_500 / n), DivideSettings("auto", 3, 40_000))
    assert plan.groups == (25, 2) and plan.n_last == 5_000
    assert plan.largest_call == 40_000 and plan.remark() is None


def test_bulk_nodes_are_divided_at_the_second_level():
    plan = plan_levels(Claims(800_000, 200_000, lambda n: 0.1), DivideSettings("auto", 3, 40_000))
    assert plan.groups[0] == 20 and plan.groups[1] >= 7
    assert sum(plan.levels[1].nodes) == 200_000 + 80_000
    assert plan.largest_call <= 40_000


def test_groups_double_where_most_nodes_represent_them():
    """10,000 topics: a small group has every node as representative, one of 20,000 only a seventh."""
    plan = plan_levels(
        Claims(100_000, 0, lambda n: min(1.0, 2_800 / max(n, 1))), DivideSettings("auto", 3, 2_000)
    )
    assert plan.groups[0] == 13  # 50 groups of 2,000 would leave all, 25 of 4,000 over half of them
    assert "a group holds 8,400 nodes, more than kernel_nodes = 2,000" in plan.remark()


def test_a_level_that_never_shrinks_is_one_flat_call():
    plan = plan_levels(Claims(1_000, 100, lambda n: 1.0), DivideSettings("auto", 3, 100))
    assert plan.groups == (1,) and plan.n_last == 1_100
    assert "the last call is flat: it holds 1,100 nodes" in plan.remark()


def test_a_number_of_groups_that_was_asked_for_stands():
    plan = plan_levels(Claims(1_000, 0, lambda n: min(1.0, 20 / n)), DivideSettings(500, 3, 100))
    assert plan.groups[0] == 500 and plan.n_last <= 100


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 200), st.integers(1, 60))
def test_groups_of_clumps_are_as_large_as_they_are_said_to_be(clumps, n_singles, limit):
    total = sum(clumps) + n_singles
    if not total:
        return
    count = fewest_groups(clumps, n_singles, limit)
    clump = np.concatenate([np.repeat(np.arange(len(clumps)), clumps), np.full(n_singles, -1)]).astype(
        np.int32
    )
    rank = np.concatenate([np.zeros(sum(clumps)), np.arange(n_singles)]).astype(np.int64)
    group = deal_members(clump, rank, len(clumps), count)
    sizes = np.bincount(group, minlength=count)
    assert sizes.tolist() == group_sizes(clumps, n_singles, count).tolist()
    if max(clumps, default=0) <= limit / 2:
        assert sizes.max() <= limit


def test_what_a_node_has_to_know():
    """[Chen2010, IV-D]: its group, then those it meets as representative; bulk nodes from level 1 on."""
    flat = DividePlan((2,), (LevelSizes((4, 4), (1, 1)),), 2, 4, 100)
    first, last = nodes_known(flat)
    assert (first["min"], first["max"]) == (4, 4)
    assert (last["min"], last["max"]) == (4, 4 + 4 - 1)  # a bulk node; a representative
    assert pn_ratio(flat) == 7 / 10
    deep = DividePlan((4, 2), (LevelSizes((10,) * 4, (3,) * 4), LevelSizes((6, 6), (2, 2))), 0, 4, 100)
    assert [known["max"] for known in nodes_known(deep)] == [10, 10 + 6 - 3, 10 + 3 + 4 - 2]


# --- representatives -------------------------------------------------------------------------------


@examples(100)
@given(interests(max_nodes=20, max_topics=12), st.integers(1, 4), st.data())
def test_representatives_are_those_of_the_reference(interest, coverage, data):
    wanted = np.array([data.draw(st.booleans()) for _ in range(interest.n_topics)])
    chosen = choose_representatives(interest, lambda_=coverage, wanted=wanted)
    everyone = list(range(interest.n_nodes))
    topics = set(np.flatnonzero(wanted).tolist())
    assert chosen.tolist() == naive_rep_set(interest, everyone, topics, coverage)


@examples(60)
@given(interests(max_nodes=20, max_topics=12), st.integers(1, 4))
def test_every_topic_is_covered_as_often_as_it_can_be(interest, coverage):
    chosen = set(choose_representatives(interest, lambda_=coverage).tolist())
    for topic in range(interest.n_topics):
        nodes = set(interest.nodes_of(topic).tolist())
        assert len(nodes & chosen) >= min(coverage, len(nodes))


# --- combine ---------------------------------------------------------------------------------------


@examples(60)
@given(interests(max_nodes=20), st.integers(1, 4), st.sampled_from([None, 1, 2]), st.data())
def test_given_overlays_are_kept_and_joined(interest, p, coverage, data):
    """Any parts, some nodes in none of them: every given edge stays and the whole is topic-connected."""
    inside = np.flatnonzero([data.draw(st.booleans()) for _ in range(interest.n_nodes)]).astype(np.int32)
    groups = divide_nodes(interest, inside, min(p, len(inside)), seed=0)
    overlays = [inner_overlay(group) for group in groups]
    whole = combine_overlays(interest, overlays, lambda_=coverage)
    assert topic_connected(interest, whole)
    assert edges_of(join(interest.node_ids, overlays)) <= edges_of(whole)


def test_parts_that_do_not_fit_are_refused_by_name():
    interest = Interest.from_pairs([(node, "x") for node in "abcd"])

    def part(nodes: str, *edges: tuple[int, int]) -> Overlay:
        return Overlay.from_edges(pa.array(list(nodes)), [u for u, _ in edges], [v for _, v in edges])

    with pytest.raises(InputError, match="overlay 2 holds node 'b'"):
        combine_overlays(interest, [part("ab", (0, 1)), part("bc", (0, 1))])
    with pytest.raises(InputError, match="overlay 1 .*not in the interest"):
        combine_overlays(interest, [part("az", (0, 1))])
    with pytest.raises(InputError, match="overlay 1 is not topic-connected: topic 'x'"):
        combine_overlays(interest, [part("abc", (0, 1))])
    with pytest.raises(UsageError, match="lambda_ is 0"):
        combine_overlays(interest, [part("ab", (0, 1))], lambda_=0)


@examples(60)
@given(interests(max_nodes=15), st.data())
def test_components_of_groups_are_those_that_merging_gives(interest, data):
    """The tables written at once must be a state as the kernels know it: rings, labels, sizes, counts."""
    group = np.array([data.draw(st.integers(-1, 2)) for _ in range(interest.n_nodes)], dtype=np.int32)
    slow = new_state(interest)
    for topic in range(interest.n_topics):
        places = range(slow.place_ptr[topic], slow.place_ptr[topic + 1])
        for a in places:
            for b in places:
                same = group[slow.place_unit[a]] == group[slow.place_unit[b]] >= 0
                if same and slow.place_label[a] != slow.place_label[b]:
                    merge(slow, topic, slow.place_label[a], slow.place_label[b])
    fast = new_state(interest)
    join_groups(fast, group, np.full(3, -1, np.int32))
    assert fast.components.tolist() == slow.components.tolist()
    for labels in (fast, slow):
        assert (labels.place_label[slow.slot_place] == labels.slot_label).all()
        for place, label in enumerate(labels.place_label):
            ring, at = {place}, labels.place_next[place]
            while at != place:
                ring.add(int(at))
                at = labels.place_next[at]
            assert ring == set(np.flatnonzero(labels.place_label == label).tolist())
            assert labels.label_size[label] == len(ring)
    alike = slow.place_label[:, None] == slow.place_label
    assert ((fast.place_label[:, None] == fast.place_label) == alike).all()
