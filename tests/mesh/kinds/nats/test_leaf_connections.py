"""Which announcements of interest are still missing, from what servers report of their leaf connections."""

from __future__ import annotations

from topicloom.mesh.kinds.nats.leaf_connections import LeafConnection, missing_interest
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic

PORT = {"a": 1, "b": 2, "d": 3}


def leaf(port: int, *subjects: str) -> LeafConnection:
    return LeafConnection("A0", port, 0, 0, frozenset(subjects))


def test_interest_is_due_where_links_stand_now() -> None:
    """Only d receives. It may turn from a to b, but while it is at a nobody has told b of it but a."""
    mesh = Mesh(
        "nats",
        tuple(MeshNode(name, "127.0.0.1", {"leaf": port}, (f"{name}.conf",)) for name, port in PORT.items()),
        (
            MeshLink("b~a", "b", "a", ("t",), "A0"),
            MeshLink("d~a", "d", "a", ("t",), "A0", backups=("b",)),
        ),
        (MeshTopic("t", "t", ("a", "b", "d"), "A0", receivers=("d",)),),
        ("a", "b", "d"),
        accounts=("A0",),
    )
    from_b, from_d = 50_001, 50_002  # as the acceptor sees them
    at_a = {
        "a": [leaf(from_b), leaf(from_d, "t")],
        "b": [leaf(PORT["a"], "t")],
        "d": [leaf(PORT["a"])],
    }
    assert missing_interest(mesh, at_a) == 0
    assert missing_interest(mesh, {**at_a, "b": [leaf(PORT["a"])]}) == 1
    at_b = {
        "a": [leaf(from_b, "t")],
        "b": [leaf(PORT["a"]), leaf(from_d, "t")],
        "d": [leaf(PORT["b"])],
    }
    assert missing_interest(mesh, at_b) == 0
    assert missing_interest(mesh, {**at_b, "a": [leaf(from_b)]}) == 1


def test_interest_is_due_where_messages_come_from() -> None:
    """Only a sends, so only a must know of others: their files forbid to announce it the other way."""
    mesh = Mesh(
        "nats",
        tuple(MeshNode(name, "127.0.0.1", {"leaf": port}, (f"{name}.conf",)) for name, port in PORT.items()),
        (MeshLink("b~a", "b", "a", ("t",), "A0"), MeshLink("d~b", "d", "b", ("t",), "A0")),
        (MeshTopic("t", "t", ("a", "b", "d"), "A0", publishers=("a",)),),
        ("a", "b", "d"),
        accounts=("A0",),
    )
    told = {"a": [leaf(50_001, "t")], "b": [leaf(PORT["a"]), leaf(50_002, "t")], "d": [leaf(PORT["b"])]}
    assert missing_interest(mesh, told) == 0
    assert missing_interest(mesh, {**told, "b": [leaf(PORT["a"]), leaf(50_002)]}) == 1
