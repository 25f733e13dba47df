"""The hosts file and the ports of brokers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import address
from topicloom.mesh.plan.hosts import Place, assign_ports, bind_host, read_hosts

NODES = ["a", "b"]


def hosts_file(folder: Path, text: str) -> Path:
    path = folder / "hosts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_hosts_are_read_by_column_name_in_any_order(tmp_path: Path) -> None:
    told: list[str] = []
    path = hosts_file(tmp_path, "\ufeffport,site,host,node\r\n1900,X,[::1],b\r\n,Y,Site-A.example,a\r\n\r\n")
    places = read_hosts(path, NODES, told.append)
    assert {node: (place.host, place.port) for node, place in places.items()} == {
        "b": ("::1", 1900),
        "a": ("Site-A.example", None),
    }
    assert told == [f"`hosts` {path}: column site is not used"]


def test_rows_of_others_are_told_and_not_used(tmp_path: Path) -> None:
    told: list[str] = []
    path = hosts_file(tmp_path, "node,host\na,x\nc,z\nb,y\nd,z\n")
    assert set(read_hosts(path, NODES, told.append)) == {"a", "b"}
    assert told == [
        f"`hosts` {path} line 3: 'c' is not a node of the build, nor 1 other name is; such rows are not used"
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "",
            "has no column 'node': its first line must be a header such as node,host, but the file is empty",
        ),
        ("node;host\na;x\nb;y\n", "header such as node,host, not 'node;host'"),
        (
            "node,host\na,x:1883\nb,y\n",
            "line 2: host 'x:1883' is neither a name nor an address; give the port in",
        ),
        ("node,address\na,x\n", "has no column 'host'"),
        ("node,host,host\n", "has a column 'host' twice"),
        ("node,host\na,x\n", "has no host for node 'b'; every node needs one"),
        ("node,host\na,x\nb,y\na,z\n", "line 4: node 'a' has a host already (line 2)"),
        ("node,host\na\nb,y\n", "line 2: it has 1 fields and the header has 2"),
        ("node,host\na,\nb,y\n", "line 2: host is empty"),
        ("node,host,port\na,x,0\nb,y,1\n", "line 2: port '0' is not a number from 1 to 65535"),
        ("node,host,port\na,x,65536\nb,y,1\n", "line 2: port '65536' is not"),
        ("node,host,port\na,x,１\nb,y,1\n", "line 2: port '１' is not"),
        ("node,host,port\na,X,1883\nb,x,1883\n", "line 3: x:1883 is taken already (line 2)"),
        ("node,host,port\na,localhost,5\nb,127.0.0.1,5\n", "line 3: 127.0.0.1:5 is taken already (line 2)"),
        ("node,host\na,0.0.0.0\nb,y\n", "line 2: host 0.0.0.0 cannot be dialled"),
        ("node,host\na,fe80::1%eth0\nb,y\n", "line 2: host fe80::1%eth0 has a zone"),
        ("node,host\na,256.1.1.1\nb,y\n", "line 2: host '256.1.1.1' is no IPv4 address"),
        ('node,host\na,"x y"\nb,y\n', "line 2: host 'x y' is neither a name nor an address"),
        ("node,host\na,mqtt://x\nb,y\n", "line 2: host 'mqtt://x' is neither"),
        ('node,host\na,"x\nb,y\n', "line 3: it is not sound CSV (unexpected end of data)"),
    ],
)
def test_broken_files_are_refused_with_the_line(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        read_hosts(hosts_file(tmp_path, text), NODES)
    assert sentence in str(refused.value)
    assert str(tmp_path / "hosts.csv") in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_hosts(tmp_path / "nowhere", NODES)
    (tmp_path / "latin").write_bytes(b"node,host\n\xe4,x\n")
    with pytest.raises(InputError, match=r"is not UTF-8 \(byte 10\)"):
        read_hosts(tmp_path / "latin", NODES)


def test_the_first_missing_nodes_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"for node 'n0', 'n1', 'n2' and 2 more"):
        read_hosts(hosts_file(tmp_path, "node,host\n"), [f"n{i}" for i in range(5)])


def test_chosen_ports_stay_and_others_go_round_them() -> None:
    places = {"a": Place("h"), "b": Place("h", 1883), "c": Place("H"), "d": Place("other")}
    ports = assign_ports(places, {node: [("mqtt", 1883)] for node in places})
    assert [ports[node]["mqtt"] for node in "abcd"] == [1884, 1883, 1885, 1883]


def test_a_host_that_is_full_is_named() -> None:
    places = {"a": Place("h", 65535), "b": Place("h")}
    with pytest.raises(InputError, match="host h has no free port left from 65535 on for node 'b'"):
        assign_ports(places, {node: [("mqtt", 65535)] for node in places})


@given(
    st.dictionaries(
        st.text("abcdefgh", min_size=1, max_size=3),
        st.tuples(st.sampled_from(["x", "X", "y"]), st.none() | st.integers(1, 12)),
        max_size=12,
    )
)
def test_no_two_brokers_share_a_port(chosen: dict[str, tuple[str, int | None]]) -> None:
    seen: set[tuple[str, int]] = set()
    places = {}
    for node, (host, port) in chosen.items():
        free = port if (host.lower(), port) not in seen else None
        if free is not None:
            seen.add((host.lower(), free))
        places[node] = Place(host, free)
    ports = assign_ports(places, {node: [("client", 3), ("leaf", 5)] for node in places})
    taken = [(places[node].host.lower(), port) for node in places for port in ports[node].values()]
    assert len(set(taken)) == 2 * len(places)
    assert all(places[node].port in (None, ports[node]["client"]) for node in places)


def test_addresses() -> None:
    assert address("2001:db8::1", 1883) == "[2001:db8::1]:1883"
    assert (bind_host("::1"), bind_host("localhost")) == ("::1", "localhost")
    assert (bind_host("10.0.0.1"), bind_host("fd00::7")) == ("0.0.0.0", "::")
