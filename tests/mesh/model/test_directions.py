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


@examples(60)
@given(st.data())
def test_with_backups_no_choice_of_ends_lacks_a_direction(data: st.DataObject) -> None:
    """Nodes dial nodes before them, so that no choice closes a loop; each choice is judged by itself."""
    nodes = "abcdef"[: data.draw(st.integers(2, 6))]
    links, turning = [], set[str]()
    for at, node in enumerate(nodes[1:], 1):
        ends = data.draw(st.lists(st.sampled_from(nodes[:at]), min_size=1, max_size=2, unique=True))
        links.append(link(node, *ends))
        turning |= {node} if len(ends) > 1 else set()
    publishers = data.draw(st.sets(st.sampled_from(nodes), min_size=1))
    receivers = data.draw(st.sets(st.sampled_from(nodes), min_size=1)) | (set(nodes) - publishers)
    if not _one_turn_each(links, turning):
        return
    roles = "".join(sorted(publishers)), "".join(sorted(receivers))
    found = directions_of(mesh_of(links, *roles))
    for choice in product(*((one.acceptor, *one.backups) for one in links)):
        chosen = [MeshLink(one.name, one.dialer, end, ("x",)) for one, end in zip(links, choice, strict=True)]
        for name, way in directions_of(mesh_of(chosen, *roles)).items():
            assert found[name] in (BOTH, way)
    if len(publishers) == 1 and set(nodes[:1]) == publishers:
        assert BOTH not in found.values(), "away from the root, whatever is chosen"


def _one_turn_each(links: list[MeshLink], turning: set[str]) -> bool:
    """Of each body, nodes joined by links that cannot turn, one node dials a link that can."""
    near: dict[str, set[str]] = {}
    for one in links:
        if not one.backups:
            near.setdefault(one.dialer, set()).add(one.acceptor)
            near.setdefault(one.acceptor, set()).add(one.dialer)
    return all(len(turning & search(node, lambda n: near.get(n, set())).keys()) <= 1 for node in near)
