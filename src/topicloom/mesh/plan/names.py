"""What topics and nodes are called at brokers: reversible encoding of any topic into legal names.

A topic that is legal keeps its name. Elsewhere each byte that may not stand where it stands is written %XX
(two hexadecimal digits, capitals), and the empty topic is `%-`. A percent sign is written %25 exactly where
it would otherwise be read as one of these, so decoding undoes encoding and no two topics meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from topicloom.errors import InputError
from topicloom.mesh.plan.filters import FilterRule

EMPTY = "%-"
_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(p * 65536 + 65534)}{chr(p * 65536 + 65535)}" for p in range(17)
)
# Control characters, white space and what is no character: nobody can read them, some brokers refuse them.
_SPACES = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_EVERYWHERE = rf"%(?=[0-9A-F]{{2}}|-)|[{_SPACES}{_NONCHARACTERS}]"


@dataclass(frozen=True, slots=True)
class NameRule:
    """The names of one kind of broker: what must be escaped, and the most bytes of a name.

    `illegal` is a regular expression for what is escaped beside what nobody can read; with None any text is
    a legal name. Where a name has more than `most_slashes`, slashes are escaped too.
    """

    kind: str
    illegal: str | None = None
    most_bytes: int = 0
    reason: str = ""
    most_slashes: int | None = None
    filters: FilterRule | None = None

    def filter(self, topic: str) -> str:
        """Return a filter as it is; refuse one with other characters that are not allowed in a name."""
        assert self.filters is not None
        tokens = topic.split(self.filters.separator)
        for token in tokens:
            if token not in (self.filters.one, self.filters.rest) and self.encode(token) != token:
                raise InputError(f"`filters`: {topic!r} has a part {token!r} that {self.kind} does not allow")
        return topic

    def encode(self, topic: str) -> str:
        """Return the name of a topic; refuse one that would be too long.

        >>> rule = NameRule("toy", "[#]", 20, "toys are small")
        >>> rule.encode("plant/line 1/#"), rule.encode("")
        ('plant/line%201/%23', '%-')
        """
        if self.illegal is None:
            return topic
        if not topic:
            return EMPTY
        name = re.sub(f"{_EVERYWHERE}|{self.illegal}", _escaped, topic)
        if self.most_slashes is not None and name.count("/") > self.most_slashes:
            name = name.replace("/", "%2F")
        size = len(name.encode())
        if size > self.most_bytes:
            raise InputError(
                f"topic {topic[:40]!r}... has a name of {size:,} bytes on {self.kind}: {self.reason}"
            )
        return name


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


STEM_LENGTH = 80
RESERVED = ("manifest", "ca")  # no node's: manifest.json lies beside its files, ca.crt beside its certificate


def _readable(node: str) -> str:
    return re.sub(r"^[.-]", "_", re.sub(r"[^A-Za-z0-9._-]", "_", node)[:STEM_LENGTH]) or "_"


def file_stems(nodes: Iterable[str]) -> dict[str, str]:
    """Return a short name for each node, for files, client identifiers and such; the manifest maps them back.

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
