"""Names that differ in writing only, and topics that brokers would read as filters."""

from __future__ import annotations

import pyarrow as pa
import pytest

from topicloom.overlay.measures.names import alike_told, find_alike, wildcard_topics, wildcards_told


def test_blanks_case_and_unicode_form_are_seen_and_nothing_else() -> None:
    nodes = pa.array(["Hall 1", "hall1", "HALL\u00a01 ", "caf\u00e9", "cafe\u0301", "cafe", "x", "y"])
    topics = pa.array(["a", "A", "a-", "b"])
    found = find_alike(nodes, topics)
    assert (found.nodes, found.topics, found.example) == (5, 2, ("Hall 1", "hall1"))
    assert alike_told(found).startswith("5 nodes and 2 topics differ from another one by blanks, case or")
    assert alike_told(find_alike(pa.array(["a"]), pa.array([], pa.string()))) == ""
    assert "1 topic" not in alike_told(find_alike(pa.array(["a"]), pa.array(["b", "B"])))


@pytest.mark.parametrize("topic", ["#", "alarm/#", "+/a", "a/+/b", "+", "a.*.b", "a.>", ">", "a/**", "*/b"])
def test_wildcards_are_seen(topic: str) -> None:
    assert wildcard_topics(pa.array(["plain", topic])) == [topic]


@pytest.mark.parametrize("topic", ["a#", "#a", "#/a", "a+b", "c++", "C#", "a*", "a.>.b", "a>", "*x*"])
def test_other_signs_are_not(topic: str) -> None:
    assert wildcard_topics(pa.array([topic])) == []


def test_the_sentence_counts() -> None:
    assert wildcards_told([]) == ""
    assert wildcards_told(["a/#"]).startswith("Topic 'a/#' looks like a filter of brokers: here it is")
    assert wildcards_told(["a/#", "+"]).startswith("2 topics look like filters of brokers")
