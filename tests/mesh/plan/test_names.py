"""Names of nodes as files, and names of topics that come back."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesh.decoded_names import decode_name
from topicloom.errors import InputError
from topicloom.mesh.plan.names import file_stems


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
