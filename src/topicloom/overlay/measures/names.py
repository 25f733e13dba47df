"""What names give away: those that differ in writing only, and topics that brokers would read as filters.

Identifiers are opaque: nothing is done about such names, but somebody should know of them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.counts import counted
from topicloom.base.summaries import Summary

# A whole token that is a wildcard: + and # of MQTT, * and > of NATS, * and ** of Zenoh.
WILDCARD = r"(^|/)(\+|\*\*?)(/|$)|(^|/)#$|(^|\.)\*(\.|$)|(^|\.)>$"
WILDCARD_SIGNS = "[+*#>]"  # one of them is in every such name


class AlikeNames(Summary, frozen=True):
    """How many nodes and topics have a name that differs from another one in writing only; two of them."""

    nodes: int
    topics: int
    example: tuple[str, ...]


def find_alike(node_ids: pa.StringArray, topic_ids: pa.StringArray) -> AlikeNames:
    """Count names that differ from another one by blanks, case or Unicode form only.

    >>> find_alike(pa.array(["a", "A ", "b"]), pa.array(["x"])).nodes
    2
    """
    nodes, topics = _alike(node_ids), _alike(topic_ids)
    return AlikeNames(len(nodes), len(topics), tuple((nodes or topics)[:2]))


def _alike(ids: pa.StringArray) -> list[str]:
    """Return the names that are not alone, those that are alike side by side."""
    groups = plain_names(ids).dictionary_encode().indices.to_numpy()
    often = np.flatnonzero(np.bincount(groups)[groups] > 1) if len(groups) else np.empty(0, np.int64)
    order = often[np.argsort(groups[often], kind="stable")]
    found: list[str] = ids.take(pa.array(order)).to_pylist()
    return found


def plain_names(ids: pa.StringArray) -> pa.StringArray:
    """Return names without what only writing differs in."""
    plain = pc.utf8_lower(pc.utf8_normalize(ids, "NFKC"))
    return pc.replace_substring_regex(plain, r"\s+", "")


def alike_told(found: AlikeNames) -> str:
    """Return one sentence; empty if all names differ."""
    counts = [counted(n, what) for n, what in ((found.nodes, "node"), (found.topics, "topic")) if n]
    if not counts:
        return ""
    one, other = found.example
    return (
        f"{' and '.join(counts)} differ from another one by blanks, case or Unicode form only, e.g. "
        f"{one!r} and {other!r}: they count as different."
    )


def wildcard_topics(topic_ids: pa.StringArray | pa.ChunkedArray) -> list[str]:
    """Return the topics that some broker would take for a filter.

    >>> wildcard_topics(pa.array(["a", "alarm/#", "a#", "+", "x.>", "c*", "a/*/b"]))
    ['alarm/#', '+', 'x.>', 'a/*/b']
    """
    found: list[str] = topic_ids.filter(pc.match_substring_regex(topic_ids, WILDCARD)).to_pylist()
    return found


def wildcards_told(topics: list[str]) -> str:
    """Return one sentence; empty if there is no such topic."""
    if not topics:
        return ""
    if len(topics) == 1:
        first = f"Topic {topics[0]!r} looks like a filter of brokers: here it"
    else:
        first = f"{len(topics):,} topics look like filters of brokers, e.g. {topics[0]!r}: here each"
    return (
        f"{first} is a name like any other, so its subscribers are not connected with those of the topics "
        "that it would match."
    )
