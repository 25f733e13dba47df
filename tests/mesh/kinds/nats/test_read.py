"""NATS's configuration language: the same files are legal here and for nats-server, and mean the same."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from brokers_present import nats_server, needs_nats
from drawing import examples
from topicloom.errors import InputError
from topicloom.mesh.kinds.nats.config_language import ConfigValue, parse_nats
from topicloom.mesh.kinds.nats.read import read_nats
from topicloom.mesh.kinds.nats.relocate import render_nats
from topicloom.mesh.model.config_files import Location

HAND_WRITTEN = """\
# hub
server_name: "hub" // its name
listen = 0.0.0.0:4222
http_port 8222; debug: off
max_payload: 64KB, PASS = secret
accounts {
  A0: { users = [ {user: a0, password: $PASS}
     {user: 'b', password: "p\\"q"} ] }
  "B 1" { }
}
leafnodes {
  include "leaf.inc"
  remotes = [
    { url: nats-leaf://a0:secret@far.example, account: A0, deny_imports: ["x.>"] }
    { urls: ["nats-leaf://u%40v:w@one:7000", "nats-leaf://two"], account: "B 1", no_randomize: true },
  ]
}
"""


def plain(value):
    """The values without lines."""
    if isinstance(value.data, dict):
        return {key: plain(entry) for key, entry in value.data.items()}
    return [plain(entry) for entry in value.data] if isinstance(value.data, list) else value.data


def legal(path):
    """Does the server itself take it?"""
    command = [nats_server(), "-t", "-c", str(path)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0


@pytest.fixture
def hub(tmp_path):
    (tmp_path / "hub.conf").write_text(HAND_WRITTEN)
    (tmp_path / "leaf.inc").write_text("port: 7422\n")
    return tmp_path / "hub.conf"


def test_a_hand_written_file(hub):
    conf = read_nats(hub, shown="hub.conf")
    assert (conf.name, plain(conf.root)["max_payload"], plain(conf.root)["debug"]) == ("hub", 65536, False)
    assert {(port.purpose, port.host, port.port) for port in conf.ports} == {
        ("client", "0.0.0.0", 4222), ("leaf", None, 7422), ("monitor", None, 8222),
    }  # fmt: skip
    assert dict(conf.users) == {"a0": ("A0", "secret"), "b": ("A0", 'p"q')}
    one, two = conf.remotes
    assert (one.account, str(one.urls[0].address), one.urls[0].user, one.denies) == (
        "A0", "far.example:7422", "a0", True,
    )  # fmt: skip
    assert [str(url.address) for url in two.urls] == ["one:7000", "two:7422"]
    assert two.urls[0].user == "u@v" and str(two.urls[0].value.where) == "hub.conf:15"
    assert str(conf.port("leaf").where) == "leaf.inc:1"


@needs_nats
def test_the_server_takes_it_and_what_is_written_from_it(hub, tmp_path):
    assert legal(hub)
    (tmp_path / "again.conf").write_text(render_nats(read_nats(hub).root))
    assert legal(tmp_path / "again.conf")
    assert plain(parse_nats(tmp_path / "again.conf", "")) == plain(parse_nats(hub, ""))


SYNTAX = [
    ("port: 4222", {"port": 4222}),
    ("port 4222", {"port": 4222}),
    ('{"port": 4222, "debug": true}', {"port": 4222, "debug": True}),
    ("debug yes\ntrace = off", {"debug": True, "trace": False}),
    ("max_payload: 1mb\nmax_pending 2k", {"max_payload": 1 << 20, "max_pending": 2000}),
    ("server_name: a#b", {"server_name": "a#b"}),
    ("N = 5000\nport: $N", {"N": 5000, "port": 5000}),
    ("server_name: 'it'\n\n# end", {"server_name": "it"}),
    ("cluster {port: -1, routes = []}", {"cluster": {"port": -1, "routes": []}}),
    ("ping_interval: 10s", {"ping_interval": "10s"}),
]


@pytest.mark.parametrize(("text", "means"), SYNTAX)
def test_ways_to_write(tmp_path, text, means):
    (tmp_path / "one.conf").write_text(text)
    assert plain(parse_nats(tmp_path / "one.conf", "")) == means


@needs_nats
@pytest.mark.parametrize("text", [text for text, _ in SYNTAX])
def test_the_server_reads_these_too(tmp_path, text):
    (tmp_path / "one.conf").write_text(text)
    assert legal(tmp_path / "one.conf")


BROKEN = [
    ("accounts {\n A: {\n}\n", "x.conf:1: this brace is never closed"),
    ("remotes: [1, 2", "x.conf:1: this bracket is never closed"),
    ('\nserver_name: "open', "x.conf:2: a text begins with"),
    ("\n\nport: $NOWHERE", "x.conf:3: $NOWHERE is named nowhere"),
    ("port:", "x.conf:1: port has no value"),
    ("include 'absent.conf'", "x.conf:1: include 'absent.conf': there is no such file"),
    ("port: many", "x.conf:1: 'many' is not a port"),
    ('server_name: "a\\qb"', "x.conf:1: '\\\\q' is no escape"),
    # The server takes these two, but such a remote never connects.
    ("leafnodes {\n remotes: [{account: A}]\n}", "x.conf:2: this remote has no url"),
    ("leafnodes {remotes: [\n{url: 'nats-leaf://h', account: A}]}", "x.conf:2: account 'A' is not among"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_faults_name_file_and_line(tmp_path, text, message):
    (tmp_path / "x.conf").write_text(text)
    with pytest.raises(InputError) as caught:
        read_nats(tmp_path / "x.conf", shown="x.conf", environment={})
    assert str(caught.value).startswith(message)


@needs_nats
@pytest.mark.parametrize("text", [text for text, _ in BROKEN[:-2]])
def test_what_is_refused_here_the_server_refuses_too(tmp_path, text):
    (tmp_path / "x.conf").write_text(text)
    assert not legal(tmp_path / "x.conf")


AT = Location("", 0)
values = st.recursive(
    st.one_of(st.text(), st.integers(-(2**60), 2**60), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_ ]*", fullmatch=True), inner, max_size=4),
    ),
    max_leaves=12,
)


def held(data):
    if isinstance(data, dict):
        return ConfigValue({key: held(entry) for key, entry in data.items()}, AT)
    return ConfigValue([held(entry) for entry in data] if isinstance(data, list) else data, AT)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(["a", "b", "c d", "e\\f", 'g"h']), values, max_size=3))
def test_what_is_written_is_read_back(tmp_path, data):
    path = tmp_path / "written.conf"
    path.write_text(render_nats(held(data)), encoding="utf-8", newline="")
    assert plain(parse_nats(path, "")) == data


def test_escaped_bytes_are_utf_8(tmp_path):
    """To the server \\xHH is one byte; read as a character, a moved server would have another password."""
    path = tmp_path / "bytes.conf"
    path.write_text(r'password: "\xc3\xa4"')
    assert parse_nats(path, "").get("password").data == "ä"
    path.write_text(r'password: "\xc3\xa4\xff"')
    with pytest.raises(InputError, match=r"n\.conf:1: .* is not UTF-8"):
        parse_nats(path, "n.conf")


@needs_nats
@pytest.mark.parametrize(
    "wrong",
    [
        "leafnode { port: 7422 }",
        "leafnodes { prot: 7422 }",
        "leafnodes { remote: [{url: 'nats://h'}] }",
        "leafnodes { remotes: [{url: 'nats://h', acount: A}] }",
    ],
)
def test_a_misspelt_link_is_not_taken_for_none(tmp_path, wrong):
    (tmp_path / "site.conf").write_text(wrong)
    with pytest.raises(InputError, match=r"site.conf:1: there is no option .*; write"):
        read_nats(tmp_path / "site.conf")
    done = subprocess.run(
        [nats_server(), "-t", "-c", "site.conf"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "unknown field" in done.stderr + done.stdout  # the server says so too


def test_accounts_of_an_operator_are_in_no_file(tmp_path):
    remotes = "leafnodes { remotes: [{url: 'nats://h', account: AABC, credentials: x}] }"
    (tmp_path / "site.conf").write_text(f"operator: op.jwt\nresolver: MEMORY\n{remotes}\n")
    assert [one.account for one in read_nats(tmp_path / "site.conf").remotes] == ["AABC"]
    (tmp_path / "site.conf").write_text(remotes)
    with pytest.raises(InputError, match="'AABC' is not among"):
        read_nats(tmp_path / "site.conf")


def test_deep_nesting_is_refused_with_a_sentence(tmp_path):
    """It was a RecursionError."""
    for deep in ("a: {" * 5000, "a: " + "[" * 5000):
        (tmp_path / "deep.conf").write_text(deep)
        with pytest.raises(InputError, match="100 deep"):
            read_nats(tmp_path / "deep.conf")


def test_includes_stay_inside_the_folder(tmp_path):
    (tmp_path / "secret.conf").write_text("a: 1")
    (tmp_path / "mesh").mkdir()
    (tmp_path / "mesh" / "a.conf").write_text("include ../secret.conf")
    with pytest.raises(InputError, match="leads out of the folder"):
        read_nats(tmp_path / "mesh" / "a.conf")


def test_a_url_with_a_password_is_not_repeated(tmp_path):
    (tmp_path / "a.conf").write_text('leafnodes { remotes: [ {url: "nats-leaf://u:hush@[::1"} ] }')
    with pytest.raises(InputError) as refused:
        read_nats(tmp_path / "a.conf")
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "include $X", "listen: $X", "port: $X", "http: $X", "A: $X\nlisten: $A", "leafnodes { port: $X }",
        "accounts { A {} }\nleafnodes { remotes: [ { url: 'nats-leaf://h', account: $X } ] }",
        "leafnodes { remotes: [ { url: $X } ] }", "cluster { listen: $X }",
    ],
)  # fmt: skip
def test_what_comes_from_the_environment_is_not_repeated(tmp_path, text):
    (tmp_path / "a.conf").write_text(text)
    for value in ("hush-hush", "hush:hush", "[hush", "hush\\q", "../hush", "u:hush@h:1"):
        with pytest.raises(InputError, match=r"^a.conf:\d") as refused:
            read_nats(tmp_path / "a.conf", shown="a.conf", environment={"X": value})
        assert "hush" not in str(refused.value)


def test_nesting_counts_over_included_files(tmp_path):
    """Each file began anew at 0: sixteen of them were deeper than Python can go."""
    for number in range(10):
        inner = f"include f{number + 1}.conf" if number < 9 else "a: 1"
        (tmp_path / f"f{number}.conf").write_text("a: { " * 90 + inner + " }" * 90)
    with pytest.raises(InputError, match=r"f1.conf:1: .*100 deep"):
        read_nats(tmp_path / "f0.conf", shown=str(tmp_path / "f0.conf"))
