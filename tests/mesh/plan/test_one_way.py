"""A topic of one publisher goes one way on every link, whatever backups cost that."""

from __future__ import annotations

from topicloom.mesh.model.directions import BOTH, directions_of
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic
from topicloom.mesh.plan.one_way import keep_one_way


def mesh(*publishers: str) -> Mesh:
    """d turns from c to a, so b - c carries what d publishes either way."""
    links = (
        MeshLink("b~a", "b", "a", ("x",)),
        MeshLink("c~b", "c", "b", ("x",)),
        MeshLink("d~c", "d", "c", ("x",), None, ("a",)),
    )
    return Mesh("mosquitto", (), links, (MeshTopic("x", "x", tuple("abcd"), publishers=publishers),), ())


def test_backups_that_turn_a_topic_of_one_publisher_around_are_given_up() -> None:
    """When the link comes back, both ends would send what they retain, and swap it."""
    assert BOTH in directions_of(mesh("d")).values(), "no case"
    found = keep_one_way(mesh("d"))
    assert BOTH not in directions_of(found).values() and not any(link.backups for link in found.links)
    assert keep_one_way(mesh("a")) == mesh("a"), "away from a, wherever d is"
    assert keep_one_way(mesh("a", "d")) == mesh("a", "d"), "both ways it goes anyway"


def test_without_backups_there_is_nothing_to_give_up() -> None:
    """GossipSub has every edge of the overlay, so a topic of one publisher comes round both ways."""
    ends = ("ba", "cb", "ac", "dc")
    links = tuple(MeshLink(f"{one}~{other}", one, other, ("x",)) for one, other in ends)
    ring = Mesh("gossipsub", (), links, (MeshTopic("x", "x", tuple("abcd"), publishers=("d",)),), ())
    assert BOTH in directions_of(ring).values(), "no case"
    assert keep_one_way(ring) == ring
