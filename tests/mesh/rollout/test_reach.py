"""Whom a message always reaches: judged by trying all choices of ends."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.mesh.model.search import search
from topicloom.mesh.rollout.reach import MovingLink, Place, Reach

NODES = "abcdef"


def naive_always(links: list[MovingLink], sender: str, hearers: set[str]) -> bool:
    for chosen in product(*(link.places for link in links)):
        near: dict[str, list[str]] = {node: [] for node in NODES}
        for link, place in zip(links, chosen, strict=True):
            if place.out:
                near[link.dialer].append(place.end)
            if place.back:
                near[place.end].append(link.dialer)
        if not hearers <= search(sender, near.__getitem__).keys():
            return False
    return True


nodes = st.sampled_from(NODES)
# Mostly both ways, else hardly any message reaches anybody.
often = st.integers(0, 4).map(bool)
places = st.lists(st.builds(Place, nodes, often, often), min_size=1, max_size=3).map(tuple)


@examples(600)
@given(
    links=st.lists(st.builds(MovingLink, nodes, places), max_size=6),
    sender=nodes,
    hearers=st.sets(nodes, min_size=1, max_size=3),
)
def test_it_is_what_all_choices_of_ends_say(links: list[MovingLink], sender: str, hearers: set[str]) -> None:
    """No more and no less: a link that may carry nothing is one with an end that it sends nothing to."""
    assert Reach(links).always(sender, hearers) == naive_always(links, sender, hearers)


def test_a_link_at_its_backup_does_not_send_against_the_link_to_its_first_end() -> None:
    """n00 stands at its backup n01, and n04 only sends to n01: it does not get what n00 publishes."""
    both = {"out": True, "back": True}
    moving = MovingLink("n00", (Place("n04", **both), Place("n01", **both)))
    assert not Reach([moving, MovingLink("n04", (Place("n01", out=True, back=False),))]).always(
        "n00", {"n04"}
    )
    assert Reach([moving, MovingLink("n04", (Place("n01", **both),))]).always("n00", {"n04"})


def test_many_links_with_backups_are_no_many_cases() -> None:
    """In a tree where each link has the node above its end as a backup, all messages go down."""
    down = [
        MovingLink(
            f"n{at}", (Place(f"n{(at - 1) // 2}", False, True), Place(f"n{(at - 3) // 4}", False, True))
        )
        for at in range(3, 200)
    ]
    root = [MovingLink(f"n{at}", (Place("n0", False, True),)) for at in (1, 2)]
    assert Reach([*root, *down]).always("n0", {f"n{at}" for at in range(200)})
