"""Which way links carry topics, by roles; judged by trying every publisher and receiver."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.mesh.model.directions import BOTH, IN, OUT, directions_of
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic
from topicloom.mesh.model.search import search


def mesh_of(links: list[MeshLink], publishers: str | None, receivers: str | None) -> Mesh:
    nodes = tuple(sorted({end for link in links for end in (link.dialer, link.acceptor, *link.backups)}))
    roles = (None if own is None else tuple(own) for own in (publishers, receivers))
    return Mesh("mosquitto", (), tuple(links), (MeshTopic("x", "x", nodes, None, None, *roles),), nodes)


def link(dialer: str, acceptor: str, *backups: str) -> MeshLink:
    return MeshLink(dialer + acceptor, dialer, acceptor, ("x",), None, backups)


def test_one_publisher_is_left_on_every_link() -> None:
    chain = [link("b", "a"), link("b", "c"), link("d", "c")]
    assert directions_of(mesh_of(chain, "a", "bcd")) == {("ba", "x"): IN, ("bc", "x"): OUT, ("dc", "x"): IN}
    assert directions_of(mesh_of(chain, "ad", "abcd")) == {
        ("ba", "x"): BOTH,
        ("bc", "x"): BOTH,
        ("dc", "x"): BOTH,
    }
    assert directions_of(mesh_of(chain, None, None)) == {}, "without roles nothing is said"


def test_a_backup_may_need_what_the_first_end_does_not() -> None:
    """a publishes; d hears it from b, and at its backup c, where nothing else would have to go."""
    links = [link("b", "a"), link("c", "b"), link("d", "b", "c")]
    ways = directions_of(mesh_of(links, "ac", "bd"))
    assert ways["cb", "x"] == BOTH and ways["db", "x"] == IN
    assert directions_of(mesh_of([*links[:2], link("d", "b")], "ac", "bd"))["cb", "x"] == OUT


@examples(60)
@given(st.data())
def test_directions_are_those_that_some_message_needs(data: st.DataObject) -> None:
    nodes = "abcdef"[: data.draw(st.integers(2, 6))]
    links = []
    for at, node in enumerate(nodes[1:], 1):
        other = data.draw(st.sampled_from(nodes[:at]))
        ends = (node, other) if data.draw(st.booleans()) else (other, node)
        links.append(link(*ends))
    publishers = data.draw(st.sets(st.sampled_from(nodes), min_size=1))
    receivers = data.draw(st.sets(st.sampled_from(nodes), min_size=1)) | (set(nodes) - publishers)
    found = directions_of(mesh_of(links, "".join(sorted(publishers)), "".join(sorted(receivers))))
    for one in links:
        near: dict[str, set[str]] = {node: set() for node in nodes}
        for other in links:
            if other is not one:
                near[other.dialer].add(other.acceptor)
                near[other.acceptor].add(other.dialer)
        side = search(one.dialer, lambda node, near=near: near[node]).keys()
        crossing = {(a in side) for a, b in product(publishers, receivers) if (a in side) != (b in side)}
        naive = BOTH if len(crossing) != 1 else OUT if True in crossing else IN
        assert found[one.name, "x"] == naive
