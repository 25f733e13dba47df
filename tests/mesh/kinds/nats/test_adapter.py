"""NATS: real servers deliver exactly, each planted fault is caught; the arithmetic of counters by itself."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import nats
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers_present import free_ports, nats_server, needs_nats, needs_openssl
from mesh.certificates import make_certificates
from mesh.exported import QUICK, RING, RING_EDGES, export_mesh, run, stranger_in, twice
from naive.crossings import crossings_one_by_one
from topicloom.errors import InputError
from topicloom.mesh.kinds.nats.adapter import NatsAdapter
from topicloom.mesh.kinds.nats.clients import NatsClients, read_access
from topicloom.mesh.kinds.nats.crossings import LinkCounts, expected_crossings, judge_counters
from topicloom.mesh.kinds.nats.leaf_connections import LeafConnection, read_client_subjects, read_leafs
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.run.adapter import MeshClients, Publication

# --- the arithmetic ------------------------------------------------------------------------------------


def _mesh(links: list[MeshLink], topics: list[MeshTopic]) -> Mesh:
    return Mesh("nats", (), tuple(links), tuple(topics), (), ("A0",))


CHAIN = [MeshLink("b~a", "b", "a", (), "A0"), MeshLink("c~b", "c", "b", (), "A0")]
SMALL = _mesh(CHAIN, [MeshTopic("x", "x", ("a", "b"), "A0"), MeshTopic("y", "y", ("b", "c"), "A0")])
MESSAGES = [Publication("a", "x", 0), Publication("b", "x", 1), Publication("b", "y", 2)]
DUE = {("b~a", "b"): 1, ("b~a", "a"): 1, ("c~b", "c"): 1}
ARRIVED = {("a", "A0"): 2, ("b", "A0"): 3, ("c", "A0"): 1}


def _counted(crossed: dict[tuple[str, str], int], **outside: tuple[int, int]) -> LinkCounts:
    accepted = {("a", "A0"): [0, 0], ("b", "A0"): [0, 0]}
    for link in CHAIN:
        accepted[link.acceptor, "A0"][0] += crossed.get((link.name, link.acceptor), 0)
        accepted[link.acceptor, "A0"][1] += crossed.get((link.name, link.dialer), 0)
    for node, (inwards, outwards) in outside.items():
        accepted[node, "A0"][0] += inwards
        accepted[node, "A0"][1] += outwards
    return LinkCounts(crossed, {place: (one, two) for place, (one, two) in accepted.items()})


def test_clients_that_are_still_let_in_when_another_is_not_are_closed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They stayed, and heard all messages a second time when the runner had connected again."""
    closed: list[str] = []

    class Slow:
        def __init__(self, node: str) -> None:
            self.node = node

        async def close(self) -> None:
            closed.append(self.node)

    async def connect(self: NatsClients, place: tuple[str, str]) -> None:
        if place[0] == "a":
            raise ConnectionError("a does not answer")
        await asyncio.sleep(0.01)
        self._clients[place] = Slow(place[0])

    async def work() -> None:
        with pytest.raises(ConnectionError, match="a does not answer"):
            await NatsAdapter().connect(_mesh(CHAIN, list(SMALL.topics)), lambda arrival: None)
        await asyncio.sleep(0.02)

    monkeypatch.setattr(NatsClients, "__init__", _bare)
    monkeypatch.setattr(NatsClients, "_connect", connect)
    asyncio.run(work())
    assert sorted(closed) == ["b", "c"]


def _bare(self: NatsClients, mesh: Mesh, _access: object, _arrived: object) -> None:
    MeshClients.__init__(self, mesh, lambda arrival: None)
    self._clients = {}


def test_messages_cross_only_links_whose_both_ends_want_them() -> None:
    assert expected_crossings(SMALL, CHAIN, MESSAGES) == DUE
    assert judge_counters(SMALL, CHAIN, MESSAGES, ARRIVED, _counted(DUE)) == []


def test_a_message_too_many_that_no_client_got_is_a_stray() -> None:
    (stray,) = judge_counters(SMALL, CHAIN, MESSAGES, ARRIVED, _counted({**DUE, ("c~b", "c"): 3}))
    assert (stray.node, stray.count) == ("c", 2)
    assert "link c~b brought it 3 messages, 1 are due" in stray.detail


def test_a_message_too_many_that_clients_got_is_a_duplicate_and_no_stray() -> None:
    """The proof tells it from the arrivals; told as a stray too it would be blamed on the overlay."""
    arrived = {**ARRIVED, ("c", "A0"): 2, ("b", "A0"): 4}
    assert judge_counters(SMALL, CHAIN, MESSAGES, arrived, _counted({**DUE, ("c~b", "c"): 2})) == []


def test_lost_messages_are_no_strays() -> None:
    assert judge_counters(SMALL, CHAIN, MESSAGES, {("a", "A0"): 1}, _counted({("b~a", "a"): 0})) == []


@pytest.mark.parametrize(("inwards", "outwards"), [(0, 2), (2, 0), (1, 1)])
def test_messages_over_a_leaf_outside_the_mesh_are_strays(inwards: int, outwards: int) -> None:
    counted = _counted(DUE, b=(inwards, outwards))
    (stray,) = judge_counters(SMALL, CHAIN, MESSAGES, ARRIVED, counted)
    assert (stray.node, stray.count) == ("b", 2)


@st.composite
def _forests(draw: st.DrawFn) -> tuple[Mesh, list[Publication]]:
    """A tree of nodes, topics on parts of it that hang together, and messages of their subscribers."""
    n_nodes = draw(st.integers(2, 8))
    nodes = [f"n{number}" for number in range(n_nodes)]
    parents = [draw(st.integers(0, node - 1)) for node in range(1, n_nodes)]
    links = [
        MeshLink(
            f"l{child}", *((nodes[child], nodes[parent]) if flip else (nodes[parent], nodes[child])), (), "A0"
        )
        for child, parent in enumerate(parents, 1)
        for flip in [draw(st.booleans())]
    ]
    topics = []
    for number in range(draw(st.integers(1, 4))):
        members = {draw(st.integers(0, n_nodes - 1))}
        for child, parent in enumerate(parents, 1):  # grow along the tree
            if (child in members or parent in members) and draw(st.booleans()):
                members |= {child, parent}
        topics.append(
            MeshTopic(f"t{number}", f"t{number}", tuple(nodes[one] for one in sorted(members)), "A0")
        )
    messages = [
        Publication(draw(st.sampled_from(topic.subscribers)), topic.topic, number)
        for number, topic in enumerate(draw(st.lists(st.sampled_from(topics), max_size=6)))
    ]
    return _mesh(links, topics), messages


@given(_forests())
def test_expected_counts_are_those_of_following_every_message(case: tuple[Mesh, list[Publication]]) -> None:
    mesh, messages = case
    assert expected_crossings(mesh, mesh.links, messages) == Counter(crossings_one_by_one(mesh, messages))


@pytest.mark.parametrize(
    "text",
    [
        "accounts { A0: { users: [ {user: ann, password: s3c:r=t} ] } } # end\ntls { ca_file: ca.crt }",
        '{"accounts": {"A0": {"users": [{"nkey": "U"}, {"user": "ann", "password": "s3c:r=t"}]}},\n'
        ' "tls": {"ca_file": "ca.crt"}}',
        "accounts = {\n A0 { // first\n users = [\n {user = 'ann'; password = 's3c:r=t'}\n ]\n }\n}\n"
        'tls: {ca_file: "ca.crt"}',
    ],
)
def test_logins_are_found_however_the_file_is_written(tmp_path: Path, text: str) -> None:
    path = tmp_path / "n.conf"
    path.write_text(text)
    found = read_access(path)
    assert found.logins == {"A0": Login("ann", "s3c:r=t")}
    assert found.authority == tmp_path / "ca.crt"


def test_escapes_of_passwords_are_undone(tmp_path: Path) -> None:
    path = tmp_path / "n.conf"
    path.write_text(r'accounts: {A: {users: [{user: "a\"b", password: "\\x41\xc3\xa4\t"}]}}')
    assert read_access(path).logins["A"] == Login('a"b', "\\x41ä\t")


# --- with real servers ---------------------------------------------------------------------------------


@needs_nats
def test_every_message_arrives_exactly_once(tmp_path: Path) -> None:
    mesh = export_mesh("nats", tmp_path / "mesh", RING, RING_EDGES, backups=1)
    assert len(mesh.accounts) == 2, "the ring must need two accounts"
    outcome = run(NatsAdapter(), tmp_path / "mesh")
    verdict = outcome.proof.verdict
    assert outcome.exact
    assert (verdict.published, verdict.delivered) == (12, 36)


@needs_nats
@needs_openssl
def test_logins_and_certificates(tmp_path: Path) -> None:
    """Clients get in with what the export wrote; hosts are elsewhere, so names of certificates differ."""
    export_mesh(
        "nats",
        tmp_path / "mesh",
        {"x": "abc"},
        ["ab", "bc"],
        logins={node: Login(f"user {node}", f'p"#: {node}\\') for node in "abc"},
        tls=make_certificates(tmp_path / "tls", "abc"),
        places={node: Place(f"{node}.example") for node in "abc"},
    )
    assert run(NatsAdapter(), tmp_path / "mesh").exact


@needs_nats
def test_a_removed_link_is_noticed(tmp_path: Path) -> None:
    mesh = export_mesh("nats", tmp_path / "mesh", RING, RING_EDGES)
    link = next(link for link in mesh.links if set("ab") == {link.dialer, link.acceptor})
    path = tmp_path / "mesh" / f"{link.dialer}.conf"
    lines = path.read_text().splitlines()
    kept = [line for line in lines if not line.endswith(link.name)]
    assert len(kept) == len(lines) - 1
    path.write_text("\n".join(kept))
    outcome = run(NatsAdapter(), tmp_path / "mesh")
    assert not outcome.exact
    assert {(one.topic, one.publisher, one.node) for one in outcome.proof.verdict.missing} <= {
        ("x", one, two) for one in "abc" for two in "abc" if "a" in (one, two)
    }
    assert outcome.proof.verdict.delivered < outcome.proof.verdict.expected


class _Planted(NatsAdapter):
    """With a client of a stranger, subscribed to `topic` at `node`, whose node does not want it."""

    def __init__(self, node: str, topic: str) -> None:
        super().__init__()
        self.node, self.topic = node, topic

    async def connect(self, mesh: Mesh, arrived: Any) -> Any:
        traffic = await super().connect(mesh, arrived)
        topic = next(topic for topic in mesh.topics if topic.topic == self.topic)
        node = next(node for node in mesh.nodes if node.name == self.node)
        login = self._access[self.node].logins[topic.account or ""]
        client = await nats.connect(
            f"nats://127.0.0.1:{node.ports['client']}", user=login.user, password=login.password
        )
        await client.subscribe(topic.name)
        await client.flush()
        await _announced(mesh, topic, self.node)
        traffic._clients["a stranger", ""] = client  # closed with the others
        return traffic


async def _announced(mesh: Mesh, topic: MeshTopic, stranger: str) -> None:
    """Wait until a neighbor of the stranger that wants the topic knows of its interest."""
    ports = {node.name: node.ports["monitor"] for node in mesh.nodes}
    near = {
        end
        for link in mesh.links
        if stranger in (link.dialer, link.acceptor)
        for end in (link.dialer, link.acceptor)
    }
    wanting = next(iter(near & set(topic.subscribers)))
    due = 1 + sum(
        {link.dialer, link.acceptor} <= set(topic.subscribers) and wanting in (link.dialer, link.acceptor)
        for link in mesh.links
    )
    while (
        sum(topic.name in leaf.subjects for leaf in await read_leafs(ports[wanting], subjects=True) or ())
        < due
    ):
        await asyncio.sleep(0.02)


@needs_nats
def test_a_planted_stray_is_caught_and_named(tmp_path: Path) -> None:
    """The stranger's node is in the account for another topic of it, and does not want this one."""
    mesh = export_mesh("nats", tmp_path / "mesh", RING, RING_EDGES)
    topic, node = stranger_in(mesh)
    outcome = run(_Planted(node, topic.topic), tmp_path / "mesh")
    verdict = outcome.proof.verdict
    assert not outcome.exact
    assert verdict.delivered == verdict.expected
    assert verdict.duplicates == 0
    assert {stray.node for stray in verdict.stray_witnesses} == {node}
    assert verdict.strays == 4, "each of the four messages on the topic"
    assert f"subscribed to {topic.name} ({topic.account})" in verdict.stray_witnesses[0].detail


@needs_nats
def test_a_planted_duplicate_is_caught_and_is_no_stray(tmp_path: Path) -> None:
    class Doubled(NatsAdapter):
        async def connect(self, mesh: Mesh, arrived: Any) -> Any:
            return twice(await super().connect(mesh, arrived))

    export_mesh("nats", tmp_path / "mesh", RING, RING_EDGES)
    verdict = run(Doubled(), tmp_path / "mesh").proof.verdict
    assert not verdict.exact
    assert (verdict.duplicates, verdict.strays) == (3, 0)


class _WrongLeaf(NatsAdapter):
    """With a server outside the mesh that dials b, and a client there that wants everything."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.server: subprocess.Popen[bytes] | None = None

    async def connect(self, mesh: Mesh, arrived: Any) -> Any:
        traffic = await super().connect(mesh, arrived)
        acceptor = next(node for node in mesh.nodes if node.name == "b")
        (login,) = self._access["b"].logins.values()  # b wants x only
        port, monitor = free_ports(2)
        (self.folder / "rogue.conf").write_text(
            f'server_name: rogue\nlisten: "127.0.0.1:{port}"\nhttp: "127.0.0.1:{monitor}"\n'
            f"leafnodes: {{remotes: [{{url: "
            f'"nats-leaf://{login.user}:{login.password}@127.0.0.1:{acceptor.ports["leaf"]}"}}]}}\n'
        )
        self.server = subprocess.Popen(
            [nats_server(), "-c", "rogue.conf"], cwd=self.folder, stderr=subprocess.DEVNULL
        )
        while not await read_leafs(monitor):
            await asyncio.sleep(0.02)
        client = await nats.connect(f"nats://127.0.0.1:{port}")
        await client.subscribe(">")
        await client.flush()
        while not any(
            ">" in leaf.subjects for leaf in await read_leafs(acceptor.ports["monitor"], subjects=True) or ()
        ):
            await asyncio.sleep(0.02)
        traffic._clients["a stranger", ""] = client
        return traffic


@needs_nats
def test_a_leaf_outside_the_mesh_is_caught(tmp_path: Path) -> None:
    export_mesh("nats", tmp_path / "mesh", RING, RING_EDGES)
    target = _WrongLeaf(tmp_path)
    try:
        verdict = run(target, tmp_path / "mesh").proof.verdict
    finally:
        if target.server is not None:
            target.server.kill()
            target.server.wait()
    assert not verdict.exact
    assert any(stray.node == "b" and "outside the mesh" in stray.detail for stray in verdict.stray_witnesses)


@needs_nats
def test_a_faulty_file_is_told_in_the_server_s_words(tmp_path: Path) -> None:
    mesh = export_mesh("nats", tmp_path / "mesh", {"x": "ab"}, ["ab"])
    path = tmp_path / "mesh" / mesh.nodes[1].configs[0]
    path.write_text(path.read_text() + "\nlisten_to_me: 1\n")
    with pytest.raises(InputError, match=r'nats-server refuses b.conf: .*unknown field "listen_to_me"'):
        NatsAdapter().commands(mesh, tmp_path / "mesh")


def test_servers_that_are_not_there_have_no_links() -> None:
    (port,) = free_ports(1)
    began = time.monotonic()
    assert asyncio.run(read_leafs(port)) == []
    assert asyncio.run(read_client_subjects(port)) == {}
    assert time.monotonic() - began < 60


@needs_nats
def test_a_link_at_a_backup_that_is_gone_turns_to_its_first_end_again(tmp_path: Path) -> None:
    """And not to the next backup: what should flow without a node would be foreseen wrongly."""
    mesh = export_mesh("nats", tmp_path / "mesh", {"x": "abcd"}, ["ab", "ac", "ad"], backups=2)
    link = next(link for link in mesh.links if len(link.backups) == 2)
    first, second = link.acceptor, link.backups[0]
    seen: list[MeshLink] = []

    class Seeing(NatsAdapter):
        async def connect(self, mesh: Mesh, arrived: Any) -> Any:
            seen.extend(one for one in await self.links_now(mesh) if one.name == link.name)
            return await super().connect(mesh, arrived)

    outcome = run(Seeing(), tmp_path / "mesh", replace(QUICK, kill=(first, second)))
    assert outcome.exact
    # Two connects for each kill, before it and when it is back, after the one for the first proof.
    assert [one.acceptor for one in seen] == [first, first, second, second, first]
    assert seen[3].backups == (first, link.backups[1])


def test_a_link_that_rests_at_its_backup_would_turn_back_to_its_first_end(monkeypatch) -> None:
    """Else a kill after another kill is judged by links that are not there any more."""
    ports = {name: {"leaf": place} for place, name in enumerate("abc", 7000)}
    mesh = Mesh(
        "nats",
        tuple(MeshNode(name, "127.0.0.1", ports[name], ()) for name in "abc"),
        (MeshLink("c~a", "c", "a", ("x",), "A0", ("b",)),),
        (MeshTopic("x", "x", ("a", "b", "c"), "A0"),),
        (),
        ("A0",),
    )

    async def leafs(_mesh: Mesh) -> dict[str, list[LeafConnection]]:
        return {"c": [LeafConnection("A0", 7001, 0, 0)], "b": [LeafConnection("A0", 50_000, 0, 0)], "a": []}

    monkeypatch.setattr("topicloom.mesh.kinds.nats.adapter.read_all_leafs", leafs)
    target = NatsAdapter()
    (link,) = asyncio.run(target.links_now(mesh))
    assert (link.acceptor, link.backups) == ("b", ("a",))
