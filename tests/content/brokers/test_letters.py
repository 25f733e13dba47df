"""Letters arrive exactly once, and what both ends remember of them stays small."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.content.brokers.letters import DeliveredEvents, Mailbox, ReceivedNumbers
from topicloom.content.brokers.messages import Accept, EventId, Leave, Letter, Receipt
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
    assert not mailboxes["a"]._line("b").open
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
            sender.withdraw("b")
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
