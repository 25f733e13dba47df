"""What topics and nodes are called on a target: reversible encoding of any topic into legal names.

A topic that is legal keeps its name. Elsewhere each byte that may not stand where it stands is written %XX
(two hexadecimal digits, capitals), and the empty topic is `%-`. A percent sign is written %25 exactly where
it would otherwise be read as one of these, so decoding undoes encoding and no two topics meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from topicloom.errors import InputError

EMPTY = "%-"
_ESCAPE = re.compile(rb"%-|%([0-9A-F]{2})")
_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(p * 65536 + 65534)}{chr(p * 65536 + 65535)}" for p in range(17)
)
# Control characters, white space and what is no character: nobody can read them, some brokers refuse them.
_SPACES = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_EVERYWHERE = rf"%(?=[0-9A-F]{{2}}|-)|[{_SPACES}{_NONCHARACTERS}]"
_MQTT_LEVELS = 200  # Mosquitto refuses topics of more slashes (TOPIC_HIERARCHY_LIMIT)


@dataclass(frozen=True, slots=True)
class NameRule:
    """One target's names: what must be escaped (a regular expression), and the most bytes of a name."""

    illegal: re.Pattern[str]
    most_bytes: int
    reason: str


def _rule(illegal: str, most_bytes: int, reason: str) -> NameRule:
    return NameRule(re.compile(f"{_EVERYWHERE}|{illegal}"), most_bytes, reason)


RULES: Mapping[str, NameRule] = {
    # Wildcards; $ begins the broker's own topics; quotes mean something in mosquitto.conf.
    "mosquitto": _rule(r'[#+"]|^\$', 65_535, "MQTT names have at most 65,535 bytes"),
    # Wildcards; tokens between dots may not be empty; $ and the two prefixes belong to the server.
    "nats": _rule(
        r"[*>]|^\$|^\.|(?<=\.)\.|\.\Z|^_(?=G?R_\.)",
        3_840,
        "with its reply it must fit into a control line of NATS, 4,096 bytes",
    ),
    # Wildcards and what is reserved; chunks between slashes may not be empty; @ hides a chunk from wildcards.
    "zenoh": _rule(
        r"[*$#?]|^/|(?<=/)/|/\Z|(?:^|(?<=/))@", 60_000, "its declaration must fit into a batch of Zenoh"
    ),
}


def encode_name(topic: str, kind: str) -> str:
    """The target's name of a topic; refused where it would be too long.

    >>> encode_name("plant/line 1/#", "mosquitto"), encode_name("a..b", "nats"), encode_name("", "zenoh")
    ('plant/line%201/%23', 'a.%2Eb', '%-')
    """
    rule = RULES[kind]
    if not topic:
        return EMPTY
    name = rule.illegal.sub(_escaped, topic)
    if kind == "mosquitto" and name.count("/") > _MQTT_LEVELS:
        name = name.replace("/", "%2F")
    if len(name.encode()) > rule.most_bytes:
        raise InputError(
            f"topic {topic[:40]!r}... has a name of {len(name.encode()):,} bytes on {kind}: {rule.reason}"
        )
    return name


def decode_name(name: str) -> str:
    """The topic of a name that `encode_name` gave; the same for every target.

    >>> decode_name("plant/line%201/%23"), decode_name("50%"), decode_name("%-")
    ('plant/line 1/#', '50%', '')
    """
    try:
        return _ESCAPE.sub(lambda found: bytes.fromhex((found[1] or b"").decode()), name.encode()).decode()
    except UnicodeDecodeError:
        raise InputError(f"name {name!r} holds escapes that are no UTF-8") from None


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


STEM_LENGTH = 80
RESERVED = ("manifest", "ca")
"""No node's: manifest.json lies beside its files, ca.crt beside its certificate."""


def _readable(node: str) -> str:
    return re.sub(r"^[.-]", "_", re.sub(r"[^A-Za-z0-9._-]", "_", node)[:STEM_LENGTH]) or "_"


def file_stems(nodes: Iterable[str]) -> dict[str, str]:
    """A short name for each node, for files, client identifiers and the like; the manifest maps them back.

    Letters, digits, dots, hyphens and underscores; no two alike even where capitals do not count.

    >>> file_stems(["n1", "N1", "a/b", "..", "ca"])
    {'n1': 'n1', 'N1': 'N1_2', 'a/b': 'a_b', '..': '_.', 'ca': 'ca_2'}
    """
    nodes = list(nodes)
    plain = {node: _readable(node) for node in nodes}
    stems: dict[str, str] = {}
    used = dict.fromkeys(RESERVED, 1)  # stem without capitals -> how often it was asked for
    # Nodes that can keep their own name come first, so that no other takes it.
    for node in sorted(nodes, key=lambda node: plain[node] != node):
        stem, wanted = plain[node], plain[node].lower()
        while stem.lower() in used:
            used[wanted] += 1
            stem = f"{plain[node]}_{used[wanted]}"
        used[stem.lower()] = 1
        stems[node] = stem
    return {node: stems[node] for node in nodes}
