"""The exact builder against trying everything, and what it promises when it may not finish."""

from __future__ import annotations

from itertools import count
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.exact as exact
from drawing import examples
from naive.exact import fewest_edges, lowest_degree, topic_connected
from strategies import tangled
from topicloom.base.progress import Silent
from topicloom.errors import Interrupted, UsageError
from topicloom.overlay.builders.baselines import build_full_mesh
from topicloom.overlay.builders.exact import build_exact
from topicloom.overlay.builders.exact_reduction import essential, reduce_interest
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.instances import lemma_6_6


def drawn(nodes: int, topics: int, size: int, seed: int = 1) -> Interest:
    options = {"topics": topics, "subscriptions": str(size), "popularity": "uniform", "seed": seed}
    return generate_interest(workload_from_options(nodes, **options))


def edges_of(build: Build) -> tuple[tuple[int, int], ...]:
    return tuple(zip(build.overlay.u.tolist(), build.overlay.v.tolist(), strict=True))


def degree_max(build: Build) -> int:
    return int(build.overlay.degrees().max(initial=0))


class Ticking(Silent):
    """A clock that moves by one second whenever it is read."""

    def __init__(self) -> None:
        ticks = count()
        super().__init__(lambda: float(next(ticks)))


class Stopping(Silent):
    """Asks to stop, or does worse, once it has been asked so many times."""

    def __init__(self, after: int, error: type[BaseException] | None = None) -> None:
        super().__init__()
        self.left, self.error = after, error

    def should_stop(self) -> bool:
        self.left -= 1
        if self.left < 0 and self.error is not None:
            raise self.error
        return self.left < 0


# --- the optimum -----------------------------------------------------------------------------------


@examples(80)
@given(tangled())
def test_edges_are_the_fewest_there_can_be(interest):
    """Otherwise a cut or a reduction forbids an optimum, or a bound claims too much."""
    build = build_exact(interest)
    best = fewest_edges(interest)
    assert topic_connected(interest, edges_of(build))
    assert build.overlay.n_edges == build.report["edges_bound"] == best
    assert build.report["optimal"] and build.report["gap"] == 0


@examples(60)
@given(tangled(max_nodes=5))
def test_the_maximum_degree_is_the_lowest_and_then_the_edges_are_the_fewest(interest):
    """Otherwise the degree rows or the order of the two objectives are wrong."""
    build = build_exact(interest, objective="max-degree")
    best = lowest_degree(interest)
    assert topic_connected(interest, edges_of(build))
    assert (degree_max(build), build.overlay.n_edges) == best
    assert (build.report["degree_max_bound"], build.report["edges_bound_at_degree"]) == best
    assert build.report["optimal"]


@examples(40)
@given(tangled(max_nodes=5), st.sampled_from(["edges", "max-degree"]), st.integers(1, 12))
def test_an_early_end_leaves_true_bounds_and_a_whole_overlay(interest, objective, seconds):
    """Otherwise a time limit turns into a false proof or a broken overlay."""
    build = build_exact(interest, objective=objective, time_limit=seconds, progress=Ticking())
    start = build_gm(interest).overlay
    degree, edges_at_degree = lowest_degree(interest)
    assert topic_connected(interest, edges_of(build))
    assert build.report["degree_max_bound"] <= degree <= degree_max(build)
    if objective == "edges":
        assert build.report["edges_bound"] <= fewest_edges(interest) <= build.overlay.n_edges <= start.n_edges
    else:
        assert build.report["edges_bound_at_degree"] <= edges_at_degree
        assert degree_max(build) <= int(start.degrees().max(initial=0))
    if build.report["optimal"]:
        value = (degree, edges_at_degree) if objective == "max-degree" else fewest_edges(interest)
        found = (degree_max(build), build.overlay.n_edges)
        assert value == (found if objective == "max-degree" else found[1])


@pytest.mark.parametrize("k", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_lemma_6_6_names_the_optimum(k):
    """[Chockler2007a] says 2k + 2m without proof ("it is easy to see"); GM takes 2k + km."""
    build = build_exact(lemma_6_6(k, k))
    assert build.report["optimal"] and build.overlay.n_edges == 4 * k


@pytest.mark.parametrize(("seed", "edges", "gm"), [(1, 133, 140), (2, 125, 134), (3, 132, 140)])
def test_sixty_nodes_are_proved_optimal_on_both_counts(seed, edges, gm):
    """The size asked for: 60 nodes, 40 topics, 5 subscriptions."""
    interest = drawn(60, 40, 5, seed)
    few, low = build_exact(interest), build_exact(interest, objective="max-degree")
    assert few.report["optimal"] and low.report["optimal"]
    assert few.overlay.n_edges == low.overlay.n_edges == edges < gm == build_gm(interest).overlay.n_edges
    assert degree_max(low) == low.report["degree_max_bound"] == 5


def test_the_same_run_twice_gives_the_same_edges():
    """Otherwise threads or hashing order reach into the search."""
    interest = drawn(40, 30, 6)
    assert build_exact(interest).overlay == build_exact(interest).overlay


# --- reductions ------------------------------------------------------------------------------------


def twins_apart(extra: tuple[tuple[str, str], ...] = ()) -> Interest:
    """Twins u and u' that every optimum leaves unlinked: each serves half of the others."""
    wanted = {"u": "123", "u'": "123"}
    wanted |= {f"{side}{pair}": pair for side in "wx" for pair in ("12", "23", "31")}
    pairs = [(node, topic) for node, topics in wanted.items() for topic in topics]
    for topic, pair in (("1", "12"), ("2", "23"), ("3", "31")):
        bridge = f"y{topic}"  # joined to both by topics of two, hence for nothing
        pairs += [(bridge, topic), (bridge, f"w{topic}"), (f"w{pair}", f"w{topic}")]
        pairs += [(bridge, f"x{topic}"), (f"x{pair}", f"x{topic}")]
    return Interest.from_pairs([*pairs, *extra])


def test_twins_are_not_linked_beforehand():
    """Linking nodes of identical interest first looks safe and costs an edge here: 13 instead of 12."""
    assert build_exact(twins_apart()).overlay.n_edges == 12
    assert build_exact(twins_apart((("u", "link"), ("u'", "link")))).overlay.n_edges == 13


def test_topics_that_follow_from_others_are_left_out():
    """abc and cd hang together over abcd; ab and cd do not, and a topic never follows from itself."""
    abcd, abc, ab, cd = (frozenset(map("abcd".index, text)) for text in ("abcd", "abc", "ab", "cd"))
    assert essential([abcd, abc, cd, frozenset([1])]) == {abc, cd}
    assert essential([abcd, ab, cd]) == {abcd, ab, cd}
    assert essential([abc, abc]) == {abc}


def test_leaves_come_back_under_hosts_of_low_degree():
    """Three nodes in a ring of topics, and nodes with a single topic that hang on them."""
    ring = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z"), ("a", "z")]
    interest = Interest.from_pairs([*ring, *((f"l{i}", "x") for i in range(4))])
    assert [leaf for leaf, _ in reduce_interest(interest, leaves=True).leaves] == [3, 4, 5, 6]
    with patch.object(exact, "HEURISTICS", (build_full_mesh,)):  # a start that is worth replacing
        build = build_exact(interest)
    assert build.report["optimal"] and build.overlay.n_edges == 7
    assert degree_max(build) == 3  # all under the first host it would be 6


def test_parts_are_solved_one_by_one():
    """Two rings of topics and a chain that has nothing to do with them."""
    pairs = [(f"{ring}{i}", f"{ring}{(i + k) % 3}") for ring in "ab" for i in range(3) for k in range(2)]
    pairs += [("c0", "c"), ("c1", "c"), ("c1", "d"), ("c2", "d"), ("alone", "e")]
    interest = Interest.from_pairs(pairs)
    build = build_exact(interest)
    assert build.report["optimal"] and build.overlay.n_edges == 3 + 3 + 2
    assert build.report["degree_max_bound"] == 2
    low = build_exact(interest, objective="max-degree")
    assert low.report["optimal"] and (degree_max(low), low.overlay.n_edges) == (2, 8)


@pytest.mark.parametrize("seconds", range(2, 60, 3))
def test_what_holds_under_a_low_cap_is_not_claimed_under_a_higher_one(seconds):
    """The instance of Lemma 6.6 needs 14 edges at degree 4, but 12 at the degree 9 that the star demands."""
    lemma = lemma_6_6(3, 3)
    pairs = list(zip(*(lemma.to_arrow()[name].to_pylist() for name in ("node", "topic")), strict=True))
    pairs += [(node, f"z{i}") for i in range(9) for node in ("zhub", f"z{i}")]
    interest = Interest.from_pairs(pairs)
    build = build_exact(interest, objective="max-degree", time_limit=seconds, progress=Ticking())
    assert build.report["edges_bound_at_degree"] <= 12 + 9 and build.report["degree_max_bound"] <= 9


# --- start, size, interrupt ------------------------------------------------------------------------

TRIANGLE = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z"), ("a", "z")])


def test_a_start_that_does_not_connect_is_not_believed():
    """Otherwise a fault in a heuristic becomes a "proved" overlay that is not topic-connected."""

    def broken(interest, *, seed, threads, progress):
        return Build(Overlay.from_edges(interest.node_ids, [0], [1]), "broken")

    with patch.object(exact, "HEURISTICS", (broken, build_gm)):
        build = build_exact(TRIANGLE)
    assert build.report["start"] == "gm" and build.overlay.n_edges == 3


def test_too_many_pairs_are_refused_unless_one_tree_serves():
    """Otherwise it would run for ever, or refuse what needs no search at all."""
    wide = [(f"n{node:04}", f"t{node % 3 + k}") for node in range(900) for k in range(2)]
    wide += [(f"n{node:04}", "t0") for node in range(2, 900, 3)]
    with pytest.raises(UsageError, match="balanced"):
        build_exact(Interest.from_pairs(wide))
    path = build_exact(
        Interest.from_pairs((f"n{node:04}", "t") for node in range(1000)), objective="max-degree"
    )
    assert path.report["tree"] and path.report["optimal"] and degree_max(path) == 2


def test_a_tree_is_no_proof_of_the_maximum_degree():
    """A hub that shares a topic of two with each of four others needs degree 4; 2 is the plain bound."""
    star = Interest.from_pairs([(node, f"t{i}") for i in range(4) for node in ("hub", f"n{i}")])
    build = build_exact(star, objective="max-degree")
    assert build.report["tree"] and build.report["optimal"]
    assert build.report["degree_max_bound"] == degree_max(build) == 4


@pytest.mark.parametrize("after", [0, 3, 40])
def test_a_request_to_stop_ends_the_search(after):
    """Otherwise Ctrl-C waits for the solver."""
    with pytest.raises(Interrupted):
        build_exact(drawn(60, 40, 10), time_limit=0, progress=Stopping(after))


def test_an_error_while_waiting_stops_the_solver_too():
    """Ctrl-C on the command line arrives as an exception in the thread that waits."""
    with pytest.raises(KeyboardInterrupt):
        build_exact(drawn(60, 40, 10), time_limit=0, progress=Stopping(80, KeyboardInterrupt))


def test_nothing_to_connect_is_optimal():
    """Empty answers must not divide by zero."""
    build = build_exact(Interest.from_pairs([("a", "x"), ("b", "y")]), objective="max-degree")
    assert build.report["optimal"] and build.overlay.n_edges == 0 and build.report["gap"] == 0
    assert np.array_equal(build.overlay.degrees(), [0, 0])


def test_a_time_limit_begins_when_everything_is_compiled(monkeypatch) -> None:
    """A limit of 5 s was used up by compiling on a fresh machine, and nothing was searched."""
    ready = []
    whole = exact.Budget

    def begun(*given):
        ready.append(exact._compile.cache_info().currsize)
        return whole(*given)

    exact._compile.cache_clear()
    monkeypatch.setattr(exact, "Budget", begun)
    build_exact(drawn(8, 4, 2), time_limit=5)
    assert ready == [0, 0, 1], "twice on the toy, then with the limit"
