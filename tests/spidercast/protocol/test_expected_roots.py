"""A beginner does not tell of roots that will not last: it knows of an older node with the topic."""

from __future__ import annotations

from random import Random

from spidercast.simulator.worlds import rss, run
from topicloom.spidercast.protocol.gossip import Gossip
from topicloom.spidercast.protocol.membership import PlainView
from topicloom.spidercast.protocol.messages import Connect, Heartbeat, NodeId, RootNames, TaskId, Topics
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.spidercast.simulator.given_views import ViewTable
from topicloom.wire.core import Send

G = TaskId.GREEDY
X = frozenset("x")


class Knowing(PlainView):
    """A view that knows how old nodes are."""

    def __init__(self, lives: dict[NodeId, int]) -> None:
        super().__init__({})
        self.lives = lives

    def oldest(self, topics: Topics) -> RootNames:
        known = [(life, node) for node, life in self.lives.items()]
        return dict.fromkeys(topics, min(known)) if known else {}


def begun(view: PlainView) -> tuple[Node, list[tuple[float, dict[object, object]]]]:
    """Node m with the neighbor k of the same age: after its first second it names k. With what it tells."""
    node = Node("m", "x", membership=lambda context: view, rng=Random(1), incarnation=5)
    node.start(0.0)
    node.receive("k", Connect(G, 0, 3, 1, X, 5, 0, {"x": (5, "k", 0)}), 0.1)
    node.take_effects()
    told: list[tuple[float, dict[object, object]]] = []
    now = 0.0
    while now < 6.5:
        now = node.next_timer()
        node.handle_timer(now)
        for effect in node.take_effects():
            if isinstance(effect, Send) and isinstance(effect.message, Heartbeat):
                told.append((now, dict(effect.message.roots)))
        beat = Heartbeat(G, 0, 3, 1, 5)
        node.receive("k", beat, now)
    assert node.roots == {"x": (5, "k", 1)}
    return node, told


def test_a_root_that_will_not_last_is_not_told_unless_the_other_does_not_come() -> None:
    _, told = begun(Knowing({"a": 1}))
    first = next(now for now, roots in told if roots)
    assert 4.5 <= first <= 5.6, "half a second of listening and four of patience"


def test_a_root_that_nobody_known_is_older_than_is_told_at_once() -> None:
    for view in (Knowing({"z": 9}), Knowing({"k": 5}), PlainView({})):
        _, told = begun(view)
        assert next(now for now, roots in told if roots) <= 1.6


def test_who_hears_late_of_an_older_node_that_is_dead_tells_its_root_in_the_end() -> None:
    """The view knew nobody at the start, and k links while the root is still expected to be another one."""
    view = Knowing({})
    node = Node("m", "x", membership=lambda context: view, rng=Random(1), incarnation=5)
    node.start(0.0)
    view.lives["dead"] = 1
    while node.next_timer() < 1.0:
        node.handle_timer(node.next_timer())
    other = Node("k", "x", membership=lambda context: PlainView({"m": X}), rng=Random(2), incarnation=9)
    other.start(1.0)
    cores = {"m": node, "k": other}
    now = 1.0
    while now < 10.0:
        for name, to in (("m", "k"), ("k", "m"), ("m", "k")):
            for effect in cores[name].take_effects():
                if isinstance(effect, Send):
                    cores[to].receive(name, effect.message, now)
        name = min(cores, key=lambda name: cores[name].next_timer())
        now = cores[name].next_timer()
        cores[name].handle_timer(now)
    assert node.neighbors == ("k",)
    assert node.roots == {"x": (5, "m", 0)}
    assert other.roots == {"x": (5, "m", 1)}


def test_the_end_of_a_doubt_may_make_a_neighbor_needless() -> None:
    node = Node("m", "x", membership=lambda context: PlainView({}), rng=Random(1), incarnation=5)
    roots = node._roots
    assert roots is not None
    node.start(0.0)
    for peer in "kz":
        node.receive(peer, Connect(G, 0, 3, 1, X, 1, 0, {"x": (1, "k", int(peer == "z"))}), 0.1)
    roots.handle_timer(roots.due)
    assert node.roots == {"x": (1, "k", 1)}
    node.lost("k", 1.0)
    assert node.roots == {"x": (5, "m", 0)}, "z is as far from the root as m was: it may hang on m"
    before = roots.moves
    assert 1.0 < roots.due < 4.0
    roots.link_down("z", 2.0)
    assert roots.moves == before
    roots.handle_timer(roots.due)
    assert roots.moves > before


def test_what_a_neighbor_said_before_its_restart_is_not_read_as_its_roots() -> None:
    """Its heartbeats are put off, it restarts within one of ours, and counts its changes from 1 again."""
    node = Node("m", "x", membership=lambda context: Knowing({"older": 0}), rng=Random(1), incarnation=50)
    node.start(0.0)

    def wait(until: float) -> None:
        while node.next_timer() < until:
            node.handle_timer(node.next_timer())

    wait(0.55)
    node.receive("k", Connect(G, 0, 3, 1, X, 10), 0.55)
    wait(1.4)
    node.receive("k", Heartbeat(G, 1, 3, 1, 10, 1, {"x": (10, "k", 0)}), 1.4)
    node.lost("k", 1.41)
    node.receive("k", Connect(G, 0, 3, 1, X, 60), 1.46)
    assert node.neighbors == ("k",)
    beat = Heartbeat(G, 1, 3, 1, 60, 1, {"x": (50, "m", 1)})
    for now in range(2, 10):
        wait(now)
        node.receive("k", beat, now)
    assert node.roots == {"x": (50, "m", 0)}, "not that of the life that ended"


def test_the_end_of_listening_takes_time_by_the_number_of_offers() -> None:
    compared = 0

    class Counted(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    topics = frozenset(Counted(f"t{number}") for number in range(300))
    node = Node("m", topics, membership=lambda context: PlainView({}), rng=Random(1), incarnation=50)
    node.start(0.0)
    for peer in "abcd":
        offers = dict.fromkeys(topics, (9, peer, 0))
        node.receive(peer, Connect(G, 0, 30, 1, topics, 9, 0, offers), 0.1)  # type: ignore[arg-type]
    compared, roots = 0, node._roots
    assert roots is not None
    roots.handle_timer(roots.due)
    assert set(node.roots.values()) == {(9, "a", 1)}
    assert compared <= 10 * 4 * len(topics)


def test_gossip_knows_the_oldest_node_of_each_topic() -> None:
    gossip = Gossip(NodeContext("me", frozenset("xy"), 1, ProtocolSettings(), Random(1)), [])
    gossip.start(0.0)
    for name, topics, life in (("a", "x", 7), ("b", "xy", 3), ("c", "y", 3), (5, "x", 1)):
        gossip.heard(name, life, 1, frozenset(topics), 0.1)
    assert gossip.oldest(frozenset("xyz")) == {"x": (3, "b"), "y": (3, "b")}


def test_given_views_know_the_oldest_node_of_each_topic() -> None:
    table = ViewTable(4, 70, 1.0, seed=1)
    for node, topics in ((0, (1, 69)), (1, (1,)), (2, (69,)), (0, (1, 69))):
        table.enter(node, topics)  # node 0 comes twice: its life is 2
    view = table.view_of(3)
    assert view.oldest(frozenset((1, 69, 7))) == {1: (1, 1), 69: (1, 2)}
    table.forget(2)
    table.set_topics(1, (7,))
    assert view.oldest(frozenset((1, 69, 7))) == {1: (2, 0), 69: (2, 0), 7: (1, 1)}


def test_partial_views_know_the_oldest_of_those_they_hold() -> None:
    table = ViewTable(40, 3, 0.1, seed=1)
    for node in range(40):
        table.enter(node, (node % 3,))
    assert table.views is not None
    for node in range(40):
        known = table.views[node].tolist()
        expected = {
            t: (1, min(o for o in known if o % 3 == t)) for t in range(3) if any(o % 3 == t for o in known)
        }
        assert table.view_of(node).oldest(frozenset(range(3))) == expected


def test_an_election_takes_fewer_changed_heartbeats_and_less_time() -> None:
    """800 nodes: with roots hardly later than without."""
    on, off = (run(rss(800), f"root={root}", "diameters=never") for root in ("on", "off"))
    assert on.snapshots[-1]["topics_partitioned"] == 0
    assert on.moment.time <= off.moment.time + 1.5
