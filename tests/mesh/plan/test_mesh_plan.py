"""Meshes of random interests, judged from their manifests by an obvious search."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from strategies import interests
from topicloom.mesh.kinds.mosquitto.write import export_mosquitto
from topicloom.mesh.kinds.nats.write import export_nats
from topicloom.mesh.kinds.zenoh.write import export_zenoh
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.plan.link_plan import check_mesh
from topicloom.mesh.plan.request import Request
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

EXPORTS = {"mosquitto": export_mosquitto, "nats": export_nats, "zenoh": export_zenoh}


def joined(nodes: Iterable[str], pairs: Iterable[tuple[str, str]]) -> tuple[int, bool]:
    """The number of parts, and whether some pair closed a circle."""
    part = {node: {node} for node in nodes}
    circle = False
    for a, b in pairs:
        if part[a] is part[b]:
            circle = True
            continue
        part[a] |= part[b]
        for node in part[b]:
            part[node] = part[a]
    return len({id(one) for one in part.values()}), circle


def complete(interest: Interest) -> Overlay:
    pairs = list(itertools.combinations(range(interest.n_nodes), 2))
    return Overlay.from_edges(interest.node_ids, [a for a, _ in pairs], [b for _, b in pairs])


def exported(kind: str, interest: Interest, folder: Path, **options) -> Mesh:
    EXPORTS[kind](Request(interest, complete(interest), **options), folder)
    return read_mesh(folder)


@pytest.mark.parametrize("kind", EXPORTS)
@examples(30)
@given(interest=interests(max_nodes=7, max_topics=5), backups=st.integers(0, 2), split=st.integers(1, 3))
def test_topics_are_trees_and_accounts_forests_whoever_turns_to_a_backup(
    tmp_path_factory: pytest.TempPathFactory, kind: str, interest: Interest, backups: int, split: int
) -> None:
    most = 0 if kind == "zenoh" else backups
    mesh = exported(kind, interest, tmp_path_factory.mktemp(kind), backups=most, split=split)
    assert set(mesh.start_order) == set(interest.node_ids.to_pylist())
    for topic in mesh.topics:
        links = [link for link in mesh.links if topic.topic in link.topics]
        assert all({link.dialer, link.acceptor, *link.backups} <= set(topic.subscribers) for link in links)
        assert joined(topic.subscribers, [(link.dialer, link.acceptor) for link in links]) == (1, False)
    everybody = [node.name for node in mesh.nodes]
    groups = [[link for link in mesh.links if link.account == account] for account in mesh.accounts]
    groups += [[link for link in mesh.links if topic.topic in link.topics] for topic in mesh.topics]
    for links in groups:
        for ends in itertools.islice(itertools.product(*((x.acceptor, *x.backups) for x in links)), 500):
            pairs = [(link.dialer, end) for link, end in zip(links, ends, strict=True)]
            assert not joined(everybody, pairs)[1], "brokers that turn to backups go round in circles"


def test_the_check_before_writing_refuses_what_does_not_hold(tmp_path: Path) -> None:
    interest = Interest.from_pairs([(node, topic) for topic in ("x", "y") for node in "abcd"])
    request = Request(interest, complete(interest))
    mesh = exported("nats", interest, tmp_path)
    check_mesh(request, mesh)
    first, second = mesh.links[:2]
    assert first.account == second.account and first.dialer != second.dialer
    turned = (replace(first, backups=(second.dialer,)), replace(second, backups=(first.dialer,)))
    broken = {
        "a link is missing": mesh.links[1:],
        "a link too many": (
            *mesh.links,
            replace(first, name="more", dialer=second.dialer, acceptor=first.dialer),
        ),
        "a topic is not carried": (replace(first, topics=("x",)), *mesh.links[1:]),
        "backups in a circle": (*turned, *mesh.links[2:]),
    }
    for what, links in broken.items():
        with pytest.raises(AssertionError, match="does not hold"):
            check_mesh(request, replace(mesh, links=links))
            pytest.fail(what)
    wrong = replace(mesh, topics=tuple(replace(topic, account=None) for topic in mesh.topics))
    with pytest.raises(AssertionError, match="of another account"):
        check_mesh(request, wrong)


def test_topics_with_other_names_are_told(tmp_path):
    """A client that subscribes to the name of the table would hear nothing, and a wildcard is none."""
    interest = Interest.from_pairs([(node, topic) for node in "ab" for topic in ("plain", "alarm/#", "x y")])
    overlay = Overlay.from_edges(interest.node_ids, [0], [1])
    figures = export_mosquitto(Request(interest, overlay), tmp_path)
    assert figures.renamed == {"alarm/#": "alarm/%23", "x y": "x%20y"}
