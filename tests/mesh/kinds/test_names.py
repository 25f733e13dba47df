"""Names of topics at every kind of broker: reversible and legal. The real programs judge in each folder."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesh.decoded_names import decode_name
from mesh.nasty_topics import NASTY
from topicloom.errors import InputError
from topicloom.mesh.kinds.registry import KINDS as ALL_KINDS

RULES = {name: kind.names for name, kind in ALL_KINDS.items() if kind.names.illegal is not None}
KINDS = sorted(RULES)
ODD = st.text(st.sampled_from('ab01%2EF-/.#+$*>?@_RG "\\\0\x85\u2028\ufffe\U0010ffffé😀\ufeff'), max_size=12)
TOPICS = ODD | st.text(max_size=30)


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
