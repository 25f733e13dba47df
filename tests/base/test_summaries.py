"""Summaries as JSON: order, absent keys, flat parts; and build folders whose summary is broken."""

from __future__ import annotations

import json

import pytest
from msgspec import field

from topicloom.base.summaries import UNSET, Figures, Summary, UnsetType, plain, to_json
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import read_summary
from topicloom.tables.folder import read_head, write_json

WHOLE = {
    "format": 1,
    "kind": "build",
    "algorithm": "gm",
    "parameters": {},
    "seed": 0,
    "seconds": {"total": 1},
}


class Part(Summary, frozen=True):
    low: int
    high: int


class Whole(Summary, frozen=True, kw_only=True):
    name: str
    measures: Figures
    remark: str | UnsetType = UNSET
    parts: tuple[Part, ...] = ()
    odd: int = field(default=1, name="an odd name")
    last: Part | UnsetType = UNSET

    FLAT = frozenset({"measures", "last"})


def test_keys_stand_in_the_order_of_fields_and_flat_parts_in_their_place():
    found = Whole(name="a", measures={"edges": 2, "degree": {"max": 1}}, parts=(Part(1, 2),), last=Part(3, 4))
    text = to_json(found).decode()
    assert text == (
        '{"name":"a","edges":2,"degree":{"max":1},"parts":[{"low":1,"high":2}],'
        '"an odd name":1,"low":3,"high":4}'
    )
    assert list(plain(Whole(name="a", measures={}, remark="r"))) == ["name", "remark", "parts", "an odd name"]


def test_a_new_measure_needs_no_field():
    assert plain(Whole(name="a", measures={"new": 7}))["new"] == 7


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "is not a build: cannot read summary.json"),
        ("{", "is not valid JSON; the build is damaged"),
        (json.dumps(WHOLE), "is not a build summary of format 1"),  # no interest_digest
        (json.dumps({**WHOLE, "interest_digest": "d", "format": 2}), "is not a build summary of format 1"),
        (json.dumps({**WHOLE, "interest_digest": "d", "kind": "plan"}), "is not a build summary of format 1"),
        (json.dumps({**WHOLE, "interest_digest": "d", "seed": "s"}), "is not a build summary of format 1"),
    ],
)
def test_a_broken_build_summary_is_one_sentence(tmp_path, text, told):
    if text is not None:
        (tmp_path / "summary.json").write_text(text)
    with pytest.raises(InputError, match=told):
        read_summary(tmp_path)


def test_keys_that_loading_does_not_need_may_be_absent_or_unknown(tmp_path):
    write_json({**WHOLE, "interest_digest": "d", "tomorrow": [1]}, tmp_path / "summary.json")
    found = read_summary(tmp_path)
    assert (found.algorithm, found.report, found.request, found.seconds) == ("gm", {}, UNSET, {"total": 1.0})


def test_what_a_file_says_it_is(tmp_path):
    path = tmp_path / "summary.json"
    assert read_head(path) is None
    path.write_bytes(b'{"format": 1, "kind": "\xff"}')
    assert read_head(path) is None
    path.write_text('["format"]')
    assert read_head(path) is None
    write_json(WHOLE, path)
    head = read_head(path)
    assert head is not None and (head.format, head.kind) == (1, "build")
