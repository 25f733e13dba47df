"""The readings of [Chockler2007b] that make its pseudo-code work, one by one, on a single node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from random import Random

import pytest

from spidercast.protocol.node_wire import Wire, tasks_of
from topicloom.spidercast.protocol.goals import Coverage, NodeGoals
from topicloom.spidercast.protocol.link_rules import LinkState
from topicloom.spidercast.protocol.membership import NeighborChoice, choose_among
from topicloom.spidercast.protocol.messages import (
    Connect,
    ConnectOk,
    Disconnect,
    Heartbeat,
    Leave,
    NodeId,
    Redirect,
    TaskId,
    Topics,
)
from topicloom.wire.core import LinkUp

G, R = TaskId.GREEDY, TaskId.RANDOM


def one(
    topics: str = "x",
    *,
    goals: NodeGoals | None = None,
    known: dict[NodeId, Iterable[str]] | None = None,
    seed: int = 1,
    **constants: float,
) -> Wire:
    """Node a alone on the wire; the nodes it knows of never speak unless the test lends them a voice."""
    wire = Wire(seed, goals=goals or NodeGoals(greedy=1), **constants)
    wire.known.update({name: frozenset(wanted) for name, wanted in (known or {}).items()})
    wire.add("a", topics)
    return wire


def linked(
    wire: Wire, peer: NodeId, topics: str, *, degree: int = 0, target: int = 9, task: TaskId = G
) -> None:
    """`peer` becomes a neighbor of a. As a rule it has too few neighbors itself to be let go."""
    wire.hand("a", peer, Connect(task, degree, target, 1, frozenset(topics)))
    assert peer in wire.nodes["a"]._tasks[task].neighbors


def told(wire: Wire, peer: NodeId, kind: type) -> list[object]:
    return wire.sent(kind, "a", peer)


# --- 1 and 2: what counts, who may go ------------------------------------------------------------------


def test_reading_1_only_neighbors_of_the_same_task_count_for_coverage() -> None:
    wire = one(goals=NodeGoals(greedy=1, random=1), known={"b": "x", "c": "x"})
    greedy, random = (task.goal for task in tasks_of(wire.nodes["a"]))
    assert (greedy.lacking, random.lacking) == (1, 1), "candidates cover nothing"
    linked(wire, "b", "x", task=R)
    assert (greedy.lacking, random.lacking) == (1, 0)
    linked(wire, "c", "x", task=G)
    assert (greedy.lacking, random.lacking) == (0, 0)


@pytest.mark.parametrize(("degree", "goes"), [(2, False), (3, True), (4, True)])
def test_reading_2_a_neighbor_may_go_if_its_degree_has_reached_its_target(degree: int, goes: bool) -> None:
    wire = one()
    linked(wire, "b", "x", degree=degree, target=3)
    linked(wire, "c", "x")
    wire.run(0.5)
    assert len(told(wire, "b", Disconnect)) == goes
    assert not told(wire, "c", Disconnect)


def test_reading_2_the_last_word_counts_also_if_the_same_heartbeat_came_before_a_connect() -> None:
    """In a simulation a heartbeat that says nothing new is the very same object."""
    wire = one()
    linked(wire, "b", "x")
    linked(wire, "c", "x")
    heartbeat = Heartbeat(G, 0, 9, 1)
    wire.hand("a", "b", heartbeat)
    wire.hand("a", "b", Connect(G, 3, 3, 1, frozenset("x")))
    wire.hand("a", "b", heartbeat)
    wire.run(0.5)
    assert not told(wire, "b", Disconnect), "it has links to gain: 0 of 9"


def test_a_needed_neighbor_is_never_asked_to_go_and_never_let_go() -> None:
    """Above L^max too: with useless neighbors that refuse, it would be dropped and sought again for ever."""
    wire = one("xy", margin=5)
    for peer in ("p", "q", "r"):
        linked(wire, peer, "z")
    linked(wire, "b", "x", degree=9)
    wire.hand("a", "b", Disconnect(G))
    wire.run(1.0)
    assert wire.state("a", "b") is LinkState.LINKED
    assert not told(wire, "b", Disconnect)
    wire.hand("a", "p", Disconnect(G))  # y is still lacking, but p is of no use
    assert wire.state("a", "p") is LinkState.STRANGER


# --- 3: quarantine of DISCONNECT -----------------------------------------------------------------------


def test_reading_3_disconnect_is_not_repeated_to_the_same_neighbor_within_the_quarantine() -> None:
    wire = one()
    linked(wire, "b", "x", degree=3, target=3)
    linked(wire, "c", "x")
    for _ in range(44):
        wire.run(0.5)
        wire.hand("a", "b", Heartbeat(G, 3, 3, 1))
        wire.hand("a", "c", Heartbeat(G, 0, 9, 1))
    times = [time for time, _, effect in wire.log if getattr(effect, "message", None) == Disconnect(G)]
    assert len(times) == 3, "it is repeated, though"
    assert all(10 <= later - earlier <= 11 for earlier, later in pairwise(times))


# --- 4 and 5: whom to connect to -----------------------------------------------------------------------


@pytest.mark.parametrize(("links", "asks"), [(1, True), (2, True), (3, True), (4, False)])
def test_reading_4_with_an_uncovered_topic_connect_goes_on_up_to_l_max_plus_margin(
    links: int, asks: bool
) -> None:
    wire = one("xy", known={"w": "y"}, margin=2)  # L^max = 2
    for number in range(links):
        linked(wire, number, "x")
    wire.run(0.5)
    assert bool(told(wire, "w", Connect)) == asks


def test_reading_5_a_candidate_that_covers_nothing_new_is_none() -> None:
    known: dict[NodeId, str] = {"b": "yz", "c": "z", "d": "x"}
    wire = one("xz", known=known)
    linked(wire, "e", "z")
    wire.run(1.0)
    assert told(wire, "d", Connect)
    assert not told(wire, "b", Connect)
    assert not told(wire, "c", Connect)


# --- 6: REDIRECT, and links that heal ------------------------------------------------------------------


def full(interests: dict[NodeId, str], *, degree: int = 0) -> Wire:
    """Node a with exactly as many neighbors as it takes."""
    wire = one(margin=len(interests) - 1)
    for peer, topics in interests.items():
        linked(wire, peer, topics, degree=degree, target=0)
    return wire


def test_reading_6_redirect_names_the_neighbor_with_room_that_shares_most_with_the_requester() -> None:
    wire = full({"b": "xy", "c": "xyz", "d": "x"})
    wire.hand("a", "d", Heartbeat(G, 99, 3, 1))  # no room there
    wire.hand("a", "new", Connect(G, 0, 9, 1, frozenset("yz")))
    assert told(wire, "new", Redirect) == [Redirect(G, "c", frozenset("xyz"))]
    assert not told(wire, "new", ConnectOk)


def test_reading_6_redirect_may_name_nobody() -> None:
    wire = full({"b": "x", "c": "x"}, degree=99)
    wire.hand("a", "new", Connect(G, 0, 9, 1, frozenset("x")))
    assert told(wire, "new", Redirect) == [Redirect(G, None, frozenset())]


def test_reading_6_redirect_never_names_the_requester() -> None:
    """Not even one that is a neighbor: its CONNECT is a repetition and is answered by CONNECT-OK."""
    wire = full({"b": "x", "c": "x"})
    wire.run(0.95)
    wire.hand("a", "b", Connect(G, 0, 9, 1, frozenset("x")))
    assert not told(wire, "b", Redirect)
    assert len(told(wire, "b", ConnectOk)) == 2


def test_reading_6_the_requester_tries_the_node_that_is_named_not_the_sender() -> None:
    wire = one(known={"b": "x"})
    wire.run(0.2)
    wire.hand("a", "b", Redirect(G, "m", frozenset("x")))
    wire.run(0.2)
    assert len(told(wire, "m", Connect)) == 1
    assert len(told(wire, "b", Connect)) == 1


@pytest.mark.parametrize("named", [None, "a", "b"])
def test_reading_6_a_redirect_to_nobody_or_to_oneself_or_to_the_sender_is_none(named: NodeId | None) -> None:
    wire = one(known={"b": "x"})
    wire.run(0.2)
    wire.hand("a", "b", Redirect(G, named, frozenset("x")))
    wire.run(1.0)
    assert [to for _, _, effect in wire.log if isinstance(getattr(effect, "message", None), Connect)
            for to in effect.to] == ["b"]  # type: ignore[union-attr]  # fmt: skip


def test_reading_6_adding_a_link_is_idempotent() -> None:
    wire = one()
    for _ in range(3):
        linked(wire, "b", "x")
        wire.hand("a", "b", ConnectOk(G, 0, 9, 1, frozenset("x")))
    assert wire.nodes["a"].neighbors == ("b",)
    assert wire.nodes["a"]._tasks[G].goal._counts == {"x": 1}  # type: ignore[attr-defined]
    assert [effect for _, _, effect in wire.log if isinstance(effect, LinkUp)] == [LinkUp("b")]


def test_reading_6_a_heartbeat_of_a_stranger_is_answered_by_leave() -> None:
    wire = one()
    wire.hand("a", "b", Heartbeat(R, 1, 1, 1))
    assert told(wire, "b", Leave) == [Leave(R)]


def test_reading_6_a_heartbeat_of_one_that_was_just_asked_is_not_its_connect_ok_may_follow() -> None:
    wire = one(known={"b": "x"})
    wire.run(0.2)
    wire.hand("a", "b", Heartbeat(G, 1, 1, 1))
    assert not told(wire, "b", Leave)
    wire.known.clear()
    wire.run(2.0)  # nothing came
    wire.hand("a", "b", Heartbeat(G, 1, 1, 1))
    assert told(wire, "b", Leave) == [Leave(G)]


# --- 7: L, K_r = 0, adaptive K_r -----------------------------------------------------------------------


def test_reading_7_l_starts_at_l_max() -> None:
    wire = one("xyz", goals=NodeGoals(greedy=3), known={"b": "x"})
    wire.run(0.2)
    (connect,) = told(wire, "b", Connect)
    assert isinstance(connect, Connect)
    assert (connect.degree, connect.target) == (0, 9)


def test_reading_7_with_k_r_0_a_node_accepts_as_many_random_links_as_margin_and_seeks_none() -> None:
    wire = one("xyz", goals=NodeGoals(greedy=1, random=0), known={"b": "xyz"}, margin=3)
    for number in range(5):
        wire.hand("a", number, Connect(R, 0, 9, 1, frozenset("x")))
    assert list(wire.nodes["a"]._tasks[R].neighbors) == [0, 1, 2]
    assert [len(told(wire, number, Redirect)) for number in range(5)] == [0, 0, 0, 1, 1]
    wire.run(5.0)
    assert all(message.task is G for message in wire.sent(Connect, "a"))


def keep(wire: Wire, seconds: int) -> None:
    """The neighbors of a stay alive."""
    for _ in range(seconds):
        for task in tasks_of(wire.nodes["a"]):
            for peer in list(task.neighbors):
                wire.hand("a", peer, Heartbeat(task.id, 0, 9, 1))
        wire.run(1.0)


def random_k(wire: Wire) -> int:
    goal = wire.nodes["a"]._tasks[R].goal
    assert isinstance(goal, Coverage)
    return goal.k


def test_reading_7_adaptive_twins_with_degree_k_g_raise_k_r() -> None:
    """3.3.1: covered by K_g links alone means interests too much alike; K_r goes up until the merged degree
    is the number of topics."""
    wire = one("vwxyz", goals=NodeGoals(greedy=3, adaptive=True), known={"mute": "vwxyz"})
    for twin in range(3):
        linked(wire, twin, "vwxyz")
    assert random_k(wire) == 0
    keep(wire, 2)
    assert random_k(wire) == 1, "not further before the first one is reached"
    linked(wire, 0, "vwxyz", task=R)  # the merged degree stays 3
    keep(wire, 2)
    assert random_k(wire) == 2
    linked(wire, 3, "vwxyz", task=R)
    keep(wire, 2)
    assert random_k(wire) == 3, "4 links are still fewer than 5 topics"
    linked(wire, 4, "vwxyz", task=R)
    keep(wire, 2)
    assert random_k(wire) == 3, "5 links are not"


def test_reading_7_adaptive_k_r_ends_at_4() -> None:
    wire = one("uvwxyz", goals=NodeGoals(greedy=3, adaptive=True))
    for task in (G, R):
        for twin in range(3):
            linked(wire, twin, "uvwxyz", task=task)
    keep(wire, 9)
    linked(wire, 3, "uvwxyz", task=R)
    keep(wire, 9)
    assert random_k(wire) == 4


def test_adaptive_k_r_does_not_wait_for_topics_that_nobody_known_wants() -> None:
    """Two twins and nobody else in the world: K_g = 3 is out of reach for good."""
    wire = one("vwx", goals=NodeGoals(greedy=3, adaptive=True))
    for twin in range(2):
        linked(wire, twin, "vwx")
    keep(wire, 3)
    assert random_k(wire) > 0


@pytest.mark.parametrize(
    "others", [["vw", "vw", "vw", "x", "x", "x"], ["vwx", "vwx", "vw", "x"], ["vwx", "vwx"]]
)
def test_reading_7_adaptive_others_do_not(others: list[str]) -> None:
    """More links than K_g, or not covered yet though somebody could help."""
    wire = one("vwx", goals=NodeGoals(greedy=3, adaptive=True), known={"mute": "vwx"})
    for number, topics in enumerate(others):
        linked(wire, number, topics)
    keep(wire, 5)
    assert random_k(wire) == 0


# --- 8: ties -------------------------------------------------------------------------------------------


def even(counts: Counter[NodeId], among: Iterable[NodeId], draws: int) -> bool:
    """Are all drawn alike, within 5 standard deviations?"""
    among = list(among)
    share = 1 / len(among)
    spread = (draws * share * (1 - share)) ** 0.5
    return set(counts) == set(among) and all(abs(n - draws * share) < 5 * spread for n in counts.values())


@pytest.mark.parametrize("rule", NeighborChoice)
def test_reading_8_ties_among_candidates_are_broken_uniformly(rule: NeighborChoice) -> None:
    known: dict[NodeId, Topics] = {number: frozenset("xy") for number in range(4)} | {9: frozenset("z")}
    rng = Random(8)
    found = Counter(choose_among(known.items(), rule, "xy", {2}, rng) for _ in range(2000))
    assert even(found, [0, 1, 3, 9] if rule is NeighborChoice.ANYONE else [0, 1, 3], 2000)  # type: ignore[arg-type]


def test_reading_8_ties_of_disconnect_and_of_redirect_are_broken_uniformly() -> None:
    parted: Counter[NodeId] = Counter()
    named: Counter[NodeId] = Counter()
    for seed in range(400):
        wire = one(seed=seed, margin=3)
        for peer in range(4):
            linked(wire, peer, "x", degree=3, target=3)
        wire.hand("a", "new", Connect(G, 0, 9, 1, frozenset("x")))
        (redirect,) = told(wire, "new", Redirect)
        named[redirect.node] += 1  # type: ignore[attr-defined]
        wire.run(0.11)
        first = next(peer for peer in range(4) if told(wire, peer, Disconnect))
        parted[first] += 1
    assert even(named, range(4), 400)
    assert even(parted, range(4), 400)
