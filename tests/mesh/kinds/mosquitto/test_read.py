"""mosquitto.conf as people write it: what is read from it, and that each fault names its file and line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers_present import free_ports, mosquitto, needs_mosquitto
from naive.bridges import match
from topicloom.errors import InputError
from topicloom.mesh.kinds.mosquitto.bridge_flow import common, matches
from topicloom.mesh.kinds.mosquitto.conf_lines import OPTIONS
from topicloom.mesh.kinds.mosquitto.read import read_mosquitto

HAND_WRITTEN = """\
# our hub
  allow_anonymous true

listener 1883
listener 8883 10.0.0.1
connection up
addresses Hub.example [fe80::1]:1884 10.0.0.2:1885 fe80::2:1886
clientid site-7
round_robin true
topic sensors/#
topic cmd/+ in 2
topic both/ways both 1 local/ ""
topic "" both 0 here there
start_type automatic
connection down
address other
try_private false
bridge_protocol_version mqttv50
"""


@pytest.fixture
def read(tmp_path):
    def reading(text):
        (tmp_path / "site.conf").write_text(text)
        return read_mosquitto(tmp_path / "site.conf", shown="site.conf")

    return reading


def test_a_hand_written_file(read):
    conf = read(HAND_WRITTEN)
    assert [(one.port, one.host, one.where.line) for one in conf.listeners] == [
        (1883, None, 4),
        (8883, "10.0.0.1", 5),
    ]
    up, down = conf.bridges
    assert [str(one) for one in up.addresses] == [
        "hub.example:1883",
        "[fe80::1]:1884",
        "10.0.0.2:1885",
        "[fe80::2]:1886",
    ]
    assert (up.remote_clientid, up.known_as_bridge) == ("site-7", True)
    assert [(rule.local, rule.remote, rule.direction) for rule in up.rules] == [
        ("sensors/#", "sensors/#", "out"),
        ("cmd/+", "cmd/+", "in"),
        ("local/both/ways", "both/ways", "both"),
        ("here", "there", "both"),
    ]
    assert up.rules[1].where.line == 11 and str(up.rules[1].where) == "site.conf:11"
    assert down.rules == () and down.known_as_bridge  # MQTT 5 says so by «no local»


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("", [(1883, "localhost")]),
        ("port 1900", [(1900, None)]),
        ("bind_address 10.1.1.1", [(1883, "10.1.1.1")]),
        ("port 1900\nbind_address ::1\nlistener 1901", [(1900, "::1"), (1901, None)]),
    ],
)
def test_default_listeners(read, text, ports):
    assert [(one.port, one.host) for one in read(text).listeners] == ports


NEVER_CARRIED = [  # mosquitto starts with these, but the subscription fails and nothing crosses
    ("connection up\naddress hub\ntopic a# both", "site.conf:3: 'a#' is no pattern"),
    ("connection up\naddress hub\ntopic a/#/b both", "site.conf:3: 'a/#/b' is no pattern"),
]
BROKEN = [
    ("listener", "site.conf:1: listener needs a port"),
    ("listener many", "site.conf:1: 'many' is not a port"),
    ("port 70000", "site.conf:1: '70000' is not a port"),
    ("\naddress hub", "site.conf:2: address belongs to a bridge"),
    ("connection up", "site.conf:1: connection up has no address"),
    ("connection up\naddress hub\naddress b", "site.conf:3: connection up has addresses already"),
    ("connection up\naddress hub:", "site.conf:2: 'hub:' has no port"),
    ("connection up\naddress hub\ntopic", "site.conf:3: topic needs a pattern"),
    ("connection up\naddress hub\ntopic a sideways", "site.conf:3: 'sideways' is no direction"),
    ("connection up\naddress hub\ntopic a both 3", "site.conf:3: '3' is no QoS"),
    ('connection up\naddress hub\ntopic "" both 0 a', 'site.conf:3: topic "" needs a local and a remote'),
    ("connection up\naddress hub\ntry_private maybe", "site.conf:3: try_private is true or false"),
    (
        "connection a\naddress h\nconnection a\naddress h",
        "site.conf:3: connection a exists at site.conf:1",
    ),
    ("include_dir nowhere", "site.conf:1: include_dir 'nowhere' is no folder"),
    ("include_dir /nowhere/conf.d", "site.conf:1: include_dir /nowhere/conf.d is not in"),
    (
        "persistence true\nbeautiful yes",
        "site.conf:2: there is no option beautiful; mosquitto",
    ),
    ("bridge_cafiles x", "site.conf:1: there is no option bridge_cafiles; write bridge_cafile"),
    ("Listener 1883", "site.conf:1: there is no option Listener; write listener"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN + NEVER_CARRIED)
def test_faults_name_file_and_line(read, text, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


@needs_mosquitto
@pytest.mark.parametrize("text", [text for text, _ in BROKEN])
def test_what_is_refused_here_mosquitto_refuses_too(tmp_path, text):
    """Otherwise files that work would be called broken."""
    (tmp_path / "site.conf").write_text(text + "\n")
    command = [mosquitto(), "-c", "site.conf", "-p", str(free_ports(1)[0])]
    try:
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        pytest.fail("mosquitto runs with it")
    assert ended.returncode != 0


@needs_mosquitto
def test_the_program_has_no_option_that_is_refused_here(tmp_path):
    """Words in the program that look like options but are none of those known here: it must not know them."""
    program = Path(mosquitto()).read_bytes()
    words = {word.decode() for word in re.findall(rb"(?<=\0)[a-z]{2,}(?:_[a-z0-9.]+)+(?=\0)", program)}
    assert len(words & OPTIONS) > 50
    stems = {word.partition("_")[0] for word in OPTIONS}
    for word in sorted(words - OPTIONS):
        if word.partition("_")[0] in stems:
            (tmp_path / "site.conf").write_text(f"{word}\n")
            command = [mosquitto(), "-c", "site.conf", "-p", str(free_ports(1)[0])]
            ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
            assert b"Unknown configuration variable" in ended.stdout + ended.stderr, word


def test_included_folders_stand_where_they_are_included(tmp_path):
    (tmp_path / "conf.d/more").mkdir(parents=True)
    (tmp_path / "site.conf").write_text("connection up\ninclude_dir conf.d\ntopic last both\n")
    (tmp_path / "conf.d/a.conf").write_text("address hub\ninclude_dir more\n")
    (tmp_path / "conf.d/more/x.conf").write_text("\ntopic first both\n")
    (tmp_path / "conf.d/ignored.txt").write_text("topic never both\n")
    (bridge,) = read_mosquitto(tmp_path / "site.conf", shown="site.conf").bridges
    assert [(rule.pattern, str(rule.where)) for rule in bridge.rules] == [
        ("first", "conf.d/more/x.conf:2"),
        ("last", "site.conf:3"),
    ]


def test_a_folder_that_includes_itself_is_refused(tmp_path):
    (tmp_path / "site.conf").write_text("include_dir .\n")
    with pytest.raises(InputError, match="does a folder include itself"):
        read_mosquitto(tmp_path / "site.conf")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "site.conf").write_bytes(b"listener 1883\n\xff\xfe")
    with pytest.raises(InputError, match="site.conf is not UTF-8 text"):
        read_mosquitto(tmp_path / "site.conf")


levels = st.sampled_from(["a", "b", "", "$c"])


@given(
    st.lists(st.one_of(levels, st.just("+")), min_size=1, max_size=4),
    st.booleans(),
    st.lists(levels, min_size=1, max_size=4),
)
def test_matching_against_the_standard_read_level_by_level(pattern, rest, name):
    whole = [*pattern, "#"] if rest else pattern
    assert matches("/".join(whole), "/".join(name)) == match(whole, name)


filters = st.tuples(
    st.lists(st.one_of(st.sampled_from("ab"), st.just("+")), min_size=1, max_size=3), st.booleans()
).map(lambda drawn: "/".join([*drawn[0], "#"] if drawn[1] else drawn[0]))


@given(filters, filters, st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join))
def test_what_two_patterns_have_in_common(one, other, name):
    both = common(one, other)
    assert (both is not None and matches(both, name)) == (matches(one, name) and matches(other, name))


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("conection x", "connection"), ("listner 1883", "listener"), ("topics # both", "topic")],
)
def test_a_misspelt_link_is_not_taken_for_none(read, wrong, meant):
    with pytest.raises(InputError, match=rf"site.conf:2: there is no option {wrong.split()[0]}.*{meant}"):
        read(f"persistence true\n{wrong}\n")


def test_options_that_only_look_alike_are_left_to_mosquitto(read):
    others = "max_connections 5\nconnection a\naddress b\nlocal_clientid c\nbridge_certfile d\nlog_type all\n"
    assert len(read(others).bridges) == 1


def test_included_files_that_lead_out_of_the_folder_are_not_read(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.conf").write_text("listener 1999\n")
    (tmp_path / "mesh/conf.d").mkdir(parents=True)
    (tmp_path / "mesh/a.conf").write_text("include_dir conf.d\n")
    (tmp_path / "mesh/conf.d/b.conf").symlink_to(tmp_path / "outside/b.conf")
    with pytest.raises(InputError, match=r"a.conf:1: .*b.conf leads out of"):
        read_mosquitto(tmp_path / "mesh/a.conf")
    (tmp_path / "mesh/a.conf").write_text("include_dir ../outside\n")
    with pytest.raises(InputError, match=r"a.conf:1: include_dir '../outside' leads out of"):
        read_mosquitto(tmp_path / "mesh/a.conf")
    (tmp_path / "mesh/a.conf").write_text("include_dir /etc/conf.e\n")
    (tmp_path / "mesh/conf.e").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match=r"a.conf:1: include_dir /etc/conf.e is not in"):
        read_mosquitto(tmp_path / "mesh/a.conf")


@pytest.mark.parametrize("address", ["user:hush@hub", "user:hush@hub:1883", "mqtt://user:hush@hub", "hush@"])
def test_a_login_in_an_address_is_not_repeated(tmp_path, address):
    (tmp_path / "a.conf").write_text(f"connection up\naddress {address}\n")
    with pytest.raises(InputError, match=r"a.conf:2: an address has no login") as refused:
        read_mosquitto(tmp_path / "a.conf")
    assert "hush" not in str(refused.value)
