"""Names of topics and nodes on the targets: reversible, legal, and judged by the real programs."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brokers_present import (
    free_ports,
    mosquitto,
    nats_server,
    needs_mosquitto,
    needs_nats,
    running,
    wait_for,
    zenoh_module,
)
from topicloom.errors import InputError
from topicloom.mesh.kinds.registry import KINDS as ALL_KINDS
from topicloom.mesh.plan.names import decode_name, file_stems

RULES = {name: kind.names for name, kind in ALL_KINDS.items() if kind.names is not None}
KINDS = sorted(RULES)
ODD = st.text(st.sampled_from('ab01%2EF-/.#+$*>?@_RG "\\\0\x85\u2028\ufffe\U0010ffffé😀\ufeff'), max_size=12)
TOPICS = ODD | st.text(max_size=30)

NASTY = [
    "plain/topic", "plain.topic", "", "#", "+", "a+b", "*", "**", "a*b", ">", "a.>", "$SYS/x", "$SYS.x",
    "a$*b",
    "a b", "tab\tx", "nul\0x", 'quote"x', '""', "ü/ß/日本", "50%", "%41", "%-", "/" * 200, "/" * 201, "/lead",
    "a//b/", ".", "...", ".lead", "a..b.", "\ufffe", "a\u2028b", "\x85", "back\\slash",
    "topic both 1", "\u200b",
    "\ufeffbom", "emoji😀", "_R_.x", "_GR_.x", "_INBOX.x", "$JS.API.x", "@/x", "a/@b/c", "q?x", "#comment",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(TOPICS)
@example("%%41")
@example("%2541")
@example("%%-")
@example("")
def test_decoding_undoes_encoding(kind: str, topic: str) -> None:
    assert decode_name(RULES[kind].encode(topic)) == topic


@pytest.mark.parametrize("kind", KINDS)
@given(TOPICS)
def test_a_name_is_its_own_name(kind: str, topic: str) -> None:
    """Encoded names are legal: encoding one again only touches what reads as an escape."""
    name = RULES[kind].encode(topic)
    assert name
    assert re.sub("%25(?=[0-9A-F]{2}|-)", "%", RULES[kind].encode(name)) == name


@given(st.text("abcXYZ012_-/=,;:&(){}[]~'^|<!é日%", min_size=1).filter(lambda t: t == t.strip("/")))
def test_legal_topics_keep_their_names_everywhere(topic: str) -> None:
    if re.search("%[0-9A-F]{2}|%-|//|_G?R_", topic) is None:
        assert {RULES[kind].encode(topic) for kind in KINDS} == {topic}


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_topics_share_a_name(kind: str) -> None:
    topics = {*NASTY, *(RULES[kind].encode(topic) for topic in NASTY)}
    assert len({RULES[kind].encode(topic) for topic in topics}) == len(topics)


@pytest.mark.parametrize(("kind", "most"), [(kind, RULES[kind].most_bytes) for kind in KINDS])
def test_names_that_are_too_long_are_refused_by_topic(kind: str, most: int) -> None:
    assert RULES[kind].encode("x" * most) == "x" * most
    with pytest.raises(
        InputError, match=rf"topic 'yx{{39}}'\.\.\. has a name of {most + 1:,} bytes on {kind}"
    ):
        RULES[kind].encode("y" + "x" * most)
    with pytest.raises(InputError, match="bytes"):
        RULES[kind].encode(" " * (most // 2))


def test_escapes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InputError, match="no UTF-8"):
        decode_name("a%FF")


NODES = st.lists(
    st.text(max_size=12) | st.sampled_from(["..", ".", "a/b", "a_b", "A_b", "a_b_2", "con"]), unique=True
)


@given(NODES)
@example(["a b", "a_b", "A_B", "a_b_2", "x" * 300, "x" * 301, "..", "", "-rf", ".hidden", "日本", "中国"])
def test_stems_are_safe_and_no_two_are_one_file(nodes: list[str]) -> None:
    stems = file_stems(nodes)
    assert list(stems) == nodes
    assert len({stem.lower() for stem in stems.values()}) == len(nodes)
    for stem in stems.values():
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", stem)


def test_plain_nodes_keep_their_names_whoever_comes_first() -> None:
    assert file_stems(["a b", "a_b"]) == {"a b": "a_b_2", "a_b": "a_b"}


@needs_mosquitto
def test_mosquitto_carries_every_name_over_a_bridge(tmp_path: Path) -> None:
    """Each name goes through mosquitto.conf, a bridge and a client, and comes out the same."""
    from paho.mqtt.client import CallbackAPIVersion, Client

    names = [RULES["mosquitto"].encode(topic) for topic in [*NASTY, "x" * 65_535]]
    near, far = free_ports(2)
    (tmp_path / "far.conf").write_text(f"listener {far} 127.0.0.1\nallow_anonymous true\n")
    bridge = f"connection b\naddress 127.0.0.1:{far}\nremote_clientid b\nrestart_timeout 1 2\n"
    topics = "".join(f"topic {name} both 1\n" for name in names)
    (tmp_path / "near.conf").write_text(
        f"listener {near} 127.0.0.1\nallow_anonymous true\n{bridge}{topics}", encoding="utf-8"
    )
    got: dict[str, bytes] = {}
    granted: list[int] = []
    receiver, sender = (Client(CallbackAPIVersion.VERSION2) for _ in range(2))
    receiver.on_message = lambda client, data, message: got.update({message.topic: message.payload})
    receiver.on_subscribe = lambda client, data, mid, codes, properties: granted.append(mid)
    commands = [[mosquitto(), "-c", str(tmp_path / name)] for name in ("far.conf", "near.conf")]
    with running(*commands, cwd=tmp_path):
        wait_for(lambda: _connects(receiver, far) and _connects(sender, near), "two brokers")
        receiver.loop_start()
        sender.loop_start()
        wait_for(lambda: receiver.is_connected() and sender.is_connected(), "two clients")
        for name in names:
            receiver.subscribe(name, 1)
        wait_for(lambda: len(granted) == len(names), "the subscriptions")
        wait_for(lambda: "New bridge connected" in (tmp_path / "log-0").read_text(), "the bridge")
        wait_for(lambda: _sent(sender, names, got), "all messages")
        for client in (receiver, sender):
            client.disconnect()
            client.loop_stop()
    assert set(got) == set(names)


def _sent(sender, names: list[str], got: dict[str, bytes]) -> bool:
    """Again and again: that the bridge has made its own subscriptions shows in nothing else."""
    missing = [name for name in names if name not in got]
    for name in missing:
        sender.publish(name, name[-10:], 1)
    time.sleep(0.1 if missing else 0)
    return not missing


def _connects(client, port: int) -> bool:
    try:
        client.connect("127.0.0.1", port)
    except OSError:
        return False
    return True


@needs_nats
def test_nats_carries_every_name(tmp_path: Path) -> None:
    """Subscribed, published with a reply, and received: within the server's default limits."""
    import nats

    names = [RULES["nats"].encode(topic) for topic in [*NASTY, "x" * RULES["nats"].most_bytes]]
    port = free_ports(1)[0]

    async def exchange() -> set[str]:
        client = await nats.connect(f"nats://127.0.0.1:{port}", allow_reconnect=False, connect_timeout=30)
        got: set[str] = set()

        async def note(message) -> None:
            got.add(message.subject)

        for name in names:
            await client.subscribe(name, cb=note)
        for name in names:
            await client.publish(name, b"x", reply="_INBOX." + "r" * 100)
        await client.flush()
        await client.drain()
        return got

    with running([nats_server(), "-a", "127.0.0.1", "-p", str(port)], cwd=tmp_path):
        wait_for(lambda: "Server is ready" in (tmp_path / "log-0").read_text(), "the server")
        assert asyncio.run(exchange()) == set(names)


def test_zenoh_takes_every_name_as_a_key() -> None:
    """The library's own parser judges; a wildcard would be accepted too, so none may be in a name."""
    zenoh = zenoh_module()
    for topic in NASTY:
        name = RULES["zenoh"].encode(topic)
        assert str(zenoh.KeyExpr(name)) == name
        assert not set(name) & set("*$?#")
    with pytest.raises(zenoh.ZError):
        zenoh.KeyExpr("a//b")
