"""Letters, numbers, memory, unions of boxes, grids of channels, trees of events: each part by itself."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.content.brokers.forwarding import RoutingTrees, branches
from topicloom.content.brokers.letters import Mailbox, ReceivedNumbers
from topicloom.content.brokers.messages import CODEC, Accept, EventId, Leave, Letter, Receipt
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.user import DeliveredEvents
from topicloom.content.brokers.user_records import RateCounter
from topicloom.content.brokers.wants_and_rates import Channels, flow_of, matches, union
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.errors import ProtocolError, UsageError
from topicloom.wire.core import Send


@examples(60)
@given(seed=st.integers(0, 10**6), loss=st.sampled_from([0.0, 0.3, 0.8]), count=st.integers(1, 30))
def test_letters_arrive_exactly_once_even_if_most_are_lost(seed, loss, count):
    """And what both ends remember of them in the end is next to nothing."""
    random, sent, got, now = Random(seed), list(range(count)), [], 0.0
    out: dict[str, list] = {"a": [], "b": []}
    mailboxes = {name: Mailbox(1, 1.0, out[name]) for name in out}
    todo = [(name, Accept(number)) for number in sent for name in ("a",)]
    for _ in range(2_000):
        now += 0.2
        if todo:
            name, body = todo.pop(0)
            mailboxes[name].send("b" if name == "a" else "a", body, now)
        for name, mailbox in mailboxes.items():
            mailbox.handle_timer(now)
            flying, out[name][:] = out[name][:], []
            random.shuffle(flying)
            for effect in flying:
                for _ in range(1 + (random.random() < 0.3)):
                    if random.random() >= loss:
                        hand(mailboxes[effect.to[0]], name, effect, got)
    assert sorted(got) == sent
    assert mailboxes["a"].under_way("b") == 0
    # The receipt of the last letter may have been lost on its way, so that one floor is one letter behind.
    assert mailboxes["b"]._line("a").had.floor == count and not mailboxes["b"]._line("a").had.above


def hand(mailbox: Mailbox, sender: str, effect: Send, got: list[int]) -> None:
    if isinstance(effect.message, Letter):
        body = mailbox.receive(sender, effect.message)
        if body is not None:
            got.append(body.move)
    else:
        assert isinstance(effect.message, Receipt)
        mailbox.receipt(sender, effect.message)


def test_a_new_life_begins_its_letters_anew():
    mailbox = Mailbox(1, 1.0, [])
    assert mailbox.receive("b", Letter(1, 1, 0, Accept(1))) is not None
    assert mailbox.receive("b", Letter(2, 1, 0, Accept(2))) is not None, "the sender was started anew"
    assert mailbox.receive("b", Letter(1, 2, 1, Accept(3))) is None, "a letter of its life before"


def test_numbers_go_on_with_whom_was_forgotten():
    sender, receiver = Mailbox(1, 1.0, []), Mailbox(1, 1.0, [], remember=10.0)
    out = sender._effects

    def carried() -> list[int]:
        got = [receiver.receive("a", effect.message) for effect in out]
        out.clear()
        return [body.term for body in got if body is not None]

    for now in range(100):
        receiver.handle_timer(float(now))
        if now % 30 == 0:
            sender.send("b", Leave(now), float(now))
            assert carried() == [now]
            sender.give_up("b")
            sender.send("c", Leave(now), float(now))  # numbers are of the sender, whoever it writes to
            out.clear()
    assert len(receiver._lines) <= 1


@given(st.lists(st.integers(1, 12)), st.integers(0, 12))
def test_numbers_are_new_once(given_numbers, floor):
    numbers, seen = ReceivedNumbers(), set()
    for place, number in enumerate(given_numbers):
        if place == len(given_numbers) // 2:
            numbers.settle(floor)
            seen |= set(range(1, floor + 1))
        assert numbers.add(number) == (number not in seen)
        seen.add(number)
    assert all(number > numbers.floor + 1 for number in numbers.above), "gaps that are filled take no memory"


def test_memory_of_events_is_bounded_and_refuses_late_copies():
    memory = DeliveredEvents(remember=10.0)
    for step in range(1_000):
        assert memory.add(EventId("p", 1 + 3 * step), float(step))
    assert memory.held() <= 11
    assert not memory.add(EventId("p", 1), 2_000.0), "a copy that comes after any time is still a copy"
    assert memory.add(EventId("q", 1), 2_000.0)


boxes = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: tuple(sorted(pair)))] * 2),
    max_size=6,
)


@given(boxes, st.booleans())
def test_a_union_holds_what_its_boxes_hold(given_boxes, flat):
    parts = [box[:1] for box in given_boxes] if flat else given_boxes
    whole = union(parts)
    for x in np.arange(-0.5, 6, 0.5):
        for y in (0,) if flat else np.arange(-0.5, 6, 0.5):
            point = (x,) if flat else (x, y)
            assert matches(whole, point) == matches(tuple(parts), point)
    assert len(whole) <= len(parts)
    if flat:
        assert all(a[0][1] < b[0][0] for a, b in pairwise(whole)), "ranges that meet are one"


@given(boxes)
def test_channels_cover_what_boxes_hold(given_boxes):
    grid = Channels([[0, 2, 3, 6], [1, 2, 4]])
    ranges = grid.ranges_of(tuple(given_boxes))
    inside = {channel for first, last in ranges for channel in range(first, last + 1)}
    needed = set()
    for x in np.arange(0.25, 6, 0.5):
        for y in np.arange(1.25, 4, 0.5):
            if matches(tuple(given_boxes), (x, y)):
                needed.add(grid.channel_of((x, y)))
    assert inside == needed, "no channel too few, and none that no box touches"
    assert all(b[0] > a[1] + 1 for a, b in pairwise(ranges))


@given(st.integers(0, 10**6), st.integers(2, 6), st.data())
def test_trees_are_lightest_and_fall_into_their_branches(seed, n, data):
    points = np.random.default_rng(seed).random((n, 2))
    core = np.linalg.norm(points[:, None] - points[None], axis=2)
    root = data.draw(st.integers(0, n - 1))
    targets = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    links = RoutingTrees(range(n), core).links(root, targets)
    assert {root, *targets} == {root, *(child for _, child in links)}
    weight = CoreModel.of(core, "free").weights(sorted(targets))[root]
    assert sum(core[a, b] for a, b in links) == pytest.approx(weight), "the tree that the cost model pays for"
    parts = list(branches(root, links))
    rebuilt = [(root, child) for child, _ in parts] + [link for _, below in parts for link in below]
    assert sorted(rebuilt) == sorted(links)


def test_branches_of_a_tree_that_is_none():
    assert list(branches("a", (("a", "b"), ("b", "a"), ("b", "b"), ("a", "b")))) == [("b", ())]


def test_summaries_fade_and_are_taken_over():
    first = RateCounter(10.0, 0.0)
    for tenth in range(300):
        first.count(2, tenth / 10)
    ((channel, rate),) = first.rates(30.0)
    assert channel == 2 and rate == pytest.approx(10.0, rel=0.1)
    second = RateCounter(10.0, 30.0, first.rates(30.0))
    assert [value for _, value in second.rates(30.0)] == pytest.approx([rate])
    assert second.rates(300.0) == (), "what is no longer published is forgotten"


def test_flows_add_up_what_comes_twice():
    flow = flow_of(((5, 1.0), (2, 2.0), (5, 3.0)))
    assert flow.channels.tolist() == [2, 5] and flow.rates.tolist() == [2.0, 4.0]
    assert flow.within([(0, 4)]) == 2.0 and flow_of(None).total == 0.0


def test_settings_that_cannot_work_are_refused():
    for wrong in ({"max_delay": 0.0}, {"detector": 1.0}, {"round": -1.0}, {"window": inf}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            BrokerSettings(**wrong)


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\x81\xa4type\xa6letter"])
def test_bytes_that_are_no_message_are_refused(data):
    with pytest.raises(ProtocolError, match="not a message"):
        CODEC.decode(data)
