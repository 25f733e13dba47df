"""GossipSub: peer lists that agree with each other and with the overlay, and nodes that run from them."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom
from drawing import examples
from strategies import interests
from topicloom.errors import InputError, UsageError
from topicloom.mesh.kinds.gossipsub import keys as gossipsub_keys
from topicloom.mesh.kinds.gossipsub.keys import (
    base58,
    check_peer_id,
    identities,
    make_identity,
    peer_id_of,
    read_identity,
)
from topicloom.mesh.kinds.gossipsub.kind import GOSSIPSUB
from topicloom.mesh.kinds.gossipsub.write import export_gossipsub
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.plan.hosts import Place, read_hosts
from topicloom.mesh.plan.request import Request
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

HAS_LIBP2P = importlib.util.find_spec("libp2p") is not None
# Where CI is set the package must be there, and these tests run or fail.
with_libp2p = pytest.mark.skipif(
    not HAS_LIBP2P and not os.environ.get("CI"), reason="pip install 'topicloom[libp2p]'"
)
EXAMPLE = Path(__file__).parents[4] / "examples" / "gossipsub_mesh.py"


def exported(folder: Path, interest: Interest, overlay: Overlay, **options) -> dict[str, dict]:
    """The file of each node, by node."""
    export_gossipsub(Request(interest, overlay, **({"seed": 1} | options)), folder)
    mesh = read_mesh(folder)
    return {node.name: json.loads((folder / node.configs[0]).read_text()) for node in mesh.nodes}


@examples(40)
@given(interest=interests(), seed=st.integers(0, 2**31))
def test_peer_lists_are_the_overlay_and_reciprocal(interest, seed, tmp_path_factory):
    """A one-sided peering would be refused by the other end, a missing one would split a topic."""
    overlay = topicloom.build(interest, "gm").overlay
    folder = tmp_path_factory.mktemp("mesh")
    files = exported(folder, interest, overlay, seed=seed)
    wants = {name: set(interest.topics_of(v)) for v, name in enumerate(interest.node_ids.to_pylist())}
    names = interest.topic_ids.to_pylist()
    edges = {frozenset(edge) for edge in overlay.to_pandas().itertuples(index=False, name=None)}
    listed = [
        frozenset((node, peer["node"])) for node, file in files.items() for peer in file["direct_peers"]
    ]
    assert set(listed) == edges and len(listed) == 2 * len(edges)
    assert len({file["id"] for file in files.values()}) == len(files)
    for node, file in files.items():
        assert file["node"] == node and set(file["topics"]) == {names[t] for t in wants[node]}
        assert {file["gossipsub"][name] for name in ("D", "Dlo", "Dhi", "Dout")} == {0}
        for peer in file["direct_peers"]:
            other = files[peer["node"]]
            assert (peer["id"], peer["addrs"]) == (other["id"], other["addrs"])
            assert set(peer["topics"]) == {names[t] for t in wants[node] & wants[peer["node"]]}


def test_the_manifest_names_every_edge_once(tmp_path):
    interest = Interest.from_pairs((f"n{v}", t) for v in range(4) for t in "xy")
    overlay = Overlay.from_edges(interest.node_ids, [0, 1, 2, 3], [1, 2, 3, 0])  # a cycle: allowed here
    exported(tmp_path, interest, overlay)
    mesh = read_mesh(tmp_path)
    assert mesh.kind == "gossipsub"
    assert {frozenset((link.dialer, link.acceptor)) for link in mesh.links} == {
        frozenset(pair) for pair in (("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n0", "n3"))
    }
    assert all(link.topics == ("x", "y") for link in mesh.links)


PAIR = Interest.from_pairs([("a", "x"), ("b", "x")])
EDGE = Overlay.from_edges(PAIR.node_ids, [0], [1])


def test_keys_are_secret_random_and_not_in_the_lists(tmp_path):
    told: list[str] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files = exported(tmp_path / name, PAIR, EDGE, seed=None, notice=told.append)
        for file in files.values():
            path = tmp_path / name / file["key"]
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert path.read_text().strip() not in json.dumps(files)
        assert stat.S_IMODE((tmp_path / name / "keys").stat().st_mode) == 0o700
    keys = {path.read_text() for path in tmp_path.glob("*/keys/*.key")}
    assert len(keys) == 4, "two exports, two nodes: four different keys"
    assert all("2 new private keys" in text for text in told)
    assert "key=" not in repr(make_identity(bytes(32)))


def test_earlier_identities_are_kept_but_not_against_the_hosts_file():
    old = identities(["a", "b"], {})
    assert identities(["a", "b"], {}, kept=old) == old
    known = Place("10.0.0.1", more={"peer_id": peer_id_of(bytes(32))})
    own = Place("10.0.0.2", more={"peer_id": old["b"].peer_id})
    found = identities(["a", "b"], {"a": known, "b": own}, kept=old)
    assert (found["a"].peer_id, found["a"].key) == (known.more["peer_id"], None)
    assert found["b"] == old["b"], "the hosts file says what the folder says: the key stays"


@pytest.mark.parametrize("damage", ["x", "é", base64.b64encode(bytes(68)).decode(), None])
def test_a_damaged_key_of_an_earlier_export_is_refused(damage):
    """None: a key of another node, which would make this node somebody else."""
    mine, other = make_identity(bytes(32)), make_identity(bytes(31) + b"1")
    assert read_identity(mine.peer_id, mine.key, "here") == mine
    with pytest.raises(InputError, match="here: the private key is not the one of peer id"):
        read_identity(mine.peer_id, damage or other.key, "here")


def test_a_seed_gives_the_same_keys_each_time():
    assert identities(["a", "b"], {}, seed=7) == identities(["a", "b"], {}, seed=7)
    assert identities(["a"], {}, seed=7) != identities(["a"], {}, seed=8)


def test_hosts_give_peer_ids_and_addresses(tmp_path):
    known = peer_id_of(bytes(range(32)))
    (tmp_path / "hosts.csv").write_text(
        f"node,host,port,peer_id\na,10.0.0.1,5001,{known}\nb,site-b.example,,\n"
    )
    places = read_hosts(tmp_path / "hosts.csv", ["a", "b"], more=GOSSIPSUB.host_columns)
    (tmp_path / "out").mkdir()
    files = exported(tmp_path / "out", PAIR, EDGE, places=places)
    assert (files["a"]["id"], files["a"]["key"]) == (known, None)
    assert files["a"]["listen"] == ["/ip4/0.0.0.0/tcp/5001"]
    assert files["b"]["direct_peers"][0]["addrs"] == ["/ip4/10.0.0.1/tcp/5001"]
    assert files["a"]["direct_peers"][0]["addrs"] == ["/dns/site-b.example/tcp/4001"]
    assert [path.name for path in (tmp_path / "out" / "keys").iterdir()] == ["b.key"]


@pytest.mark.parametrize(
    ("host", "listen", "dialled"),
    [
        ("127.0.0.1", "/ip4/127.0.0.1/tcp/4001", "/ip4/127.0.0.1/tcp/4001"),
        ("localhost", "/ip4/127.0.0.1/tcp/4001", "/dns/localhost/tcp/4001"),
        ("::1", "/ip6/::1/tcp/4001", "/ip6/::1/tcp/4001"),
        ("fd00::7", "/ip6/::/tcp/4001", "/ip6/fd00::7/tcp/4001"),
    ],
)
def test_a_node_listens_where_it_is_dialled(host, listen, dialled, tmp_path):
    files = exported(tmp_path, PAIR, EDGE, places={"a": Place(host), "b": Place("10.9.9.9")})
    assert (files["a"]["listen"], files["a"]["addrs"]) == ([listen], [dialled])


@pytest.mark.parametrize(
    "wrong", ["x", "12D3KooW", "0OIl", "bafzaajaiaejca", "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXm"]
)
def test_what_is_no_peer_id_is_refused(wrong):
    with pytest.raises(InputError, match="line 2.*peer_id"):
        check_peer_id(wrong, "hosts.csv line 2")


def test_one_peer_id_for_two_nodes_is_refused():
    same = Place("10.0.0.1", more={"peer_id": peer_id_of(bytes(32))})
    with pytest.raises(InputError, match="'a' and 'b' the same peer_id"):
        identities(["a", "b"], {"a": same, "b": same})


def test_without_cryptography_the_message_says_what_to_install(monkeypatch):
    for name in list(sys.modules):
        if name.split(".")[0] == "cryptography":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(UsageError, match=r"pip install 'topicloom\[libp2p\]'"):
        gossipsub_keys.make_identity(bytes(32))
    place = Place("10.0.0.1", more={"peer_id": peer_id_of(bytes(32))})
    assert identities(["a"], {"a": place})["a"].key is None, "known peer ids need no cryptography"


def test_more_topics_than_py_libp2p_heeds_are_told(tmp_path):
    told: list[str] = []
    interest = Interest.from_pairs((node, f"t{t}") for node in "ab" for t in range(101))
    exported(tmp_path, interest, Overlay.from_edges(interest.node_ids, [0], [1]), notice=told.append)
    assert any("max_subscriptions_per_peer" in text for text in told)


# --- against libp2p itself -------------------------------------------------------------------------


@with_libp2p
@examples(50)
@given(seed=st.binary(min_size=32, max_size=32), raw=st.binary(max_size=40))
def test_libp2p_makes_the_same_peer_id_of_the_key(seed, raw):
    from libp2p.crypto.ed25519 import create_new_key_pair
    from libp2p.peer.id import ID

    pair = create_new_key_pair(seed or bytes(32))
    identity = make_identity(seed)
    assert identity.peer_id == str(ID.from_pubkey(pair.public_key))
    assert check_peer_id(identity.peer_id, "here") == identity.peer_id
    protobuf = base64.b64decode(identity.key)
    assert protobuf[4:] == pair.private_key.to_bytes() + pair.public_key.to_bytes()
    assert base58(raw) == str(ID(raw))


@with_libp2p
def test_libp2p_loads_the_files_as_they_are(tmp_path):
    from libp2p.crypto.pb import crypto_pb2
    from libp2p.peer.id import ID
    from libp2p.peer.peerinfo import PeerInfo
    from multiaddr import Multiaddr

    places = {"a": Place("site-a.example"), "b": Place("fd00::7")}
    for file in exported(tmp_path, PAIR, EDGE, places=places).values():
        for peer in file["direct_peers"]:
            info = PeerInfo(ID.from_string(peer["id"]), [Multiaddr(addr) for addr in peer["addrs"]])
            assert str(info.peer_id) == peer["id"] and [str(addr) for addr in info.addrs] == peer["addrs"]
        key = crypto_pb2.PrivateKey.FromString(base64.b64decode((tmp_path / file["key"]).read_text()))
        assert key.key_type == crypto_pb2.KeyType.Ed25519 and len(key.data) == 64


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("gossipsub_mesh", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@with_libp2p
def test_a_node_that_is_sent_what_it_does_not_want_is_counted(example, tmp_path, monkeypatch):
    """py-libp2p as it is sends to every direct peer: the count of strays must see that."""
    import trio

    interest = Interest.from_pairs(zip("aabccdd", "xyxxyxy", strict=True))
    overlay = Overlay.from_edges(interest.node_ids, [0, 0, 1, 2], [1, 2, 3, 3])
    monkeypatch.setattr(example, "TopicRouter", example.GossipSub)
    files = example.without(list(exported(tmp_path, interest, overlay).values()), "c", "d")
    expected, delivered, duplicates, strays = trio.run(example.deliver, tmp_path, files, 1)
    assert strays > 0 and duplicates == 0
    assert delivered < expected, "y is apart: b, between a and d, does not want it and does not pass it on"
