"""The scatter of degrees: every build is drawn where its figures are, and every name can be read."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.base.charts import save_chart
from topicloom.base.labels import DOT, LEADER, Box, LogAxis, place_labels
from topicloom.errors import UsageError
from topicloom.overlay.charts import Dot, degree_scatter, hops_scatter

pytestmark = pytest.mark.slow

DOTS = {
    "balanced": Dot(4.6, 9, "ours"),
    "gm": Dot(4.8, 53, "published"),
    "gm-m": Dot(6.9, 10, "published"),
    "star": Dot(19.0, 999, "baseline"),
    "2d-oda": Dot(19.1, 999, "published"),
}
CANVAS = Box(0, 0, 400, 400)


def rows(chart, panel: int, layer: int) -> list[dict]:
    """The data of one layer: 0 lines, 1 dots, 2 names."""
    return chart.to_dict()["hconcat"][panel]["layer"][layer]["data"]["values"]


def test_dots_lie_at_the_degrees_and_each_has_one_name():
    chart = degree_scatter(DOTS, "title", "note", near=["balanced", "gm", "gm-m"])
    everywhere, magnified = (
        {row["build"]: (row["x"], row["y"]) for row in rows(chart, panel, 1)} for panel in (0, 1)
    )
    assert everywhere.keys() == DOTS.keys()
    assert magnified.keys() == {"balanced", "gm", "gm-m"}
    for name, place in (everywhere | magnified).items():
        assert place == pytest.approx((DOTS[name].average, DOTS[name].maximum))
    named = [row["build"] for panel in (0, 1) for row in rows(chart, panel, 2)]
    assert sorted(named) == sorted(DOTS)


def test_dots_on_one_another_are_named_line_by_line():
    names = {row["build"]: row for row in rows(degree_scatter(DOTS, "title", "note"), 0, 2)}
    assert names["star"]["x"] == names["2d-oda"]["x"]
    assert names["star"]["y"] > names["2d-oda"]["y"]
    assert names["star"]["kind"] == "baseline"


@examples(50)
@given(
    st.lists(
        st.tuples(st.integers(20, 380), st.integers(20, 380)), min_size=1, max_size=8, unique=True
    ).filter(lambda places: all(math.dist(a, b) >= 40 for a, b in combinations(places, 2)))
)
def test_names_cover_neither_dots_nor_each_other_and_belong_to_their_own(places):
    dots = {f"gm-{number}": place for number, place in enumerate(places)}
    boxes = place_labels(dots, CANVAS)
    marks = [Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in places]
    for name, box in boxes.items():
        assert box.within(CANVAS)
        assert not any(box.meets(mark) for mark in marks)
        nearest = min(box.distance(place) for place in places)
        assert box.distance(dots[name]) == nearest or box.distance(dots[name]) > LEADER
    assert not any(a.meets(b) for a, b in combinations(boxes.values(), 2))


def test_an_axis_gives_back_its_values_and_has_ticks():
    for values in ([4.6, 7.0], [5.0, 999.0], [3.0, 3.0]):
        axis = LogAxis.over(values, 400)
        assert all(axis.value(axis.at(value)) == pytest.approx(value) for value in values)
        assert all(0 < axis.at(value) < 400 for value in values)
        assert axis.ticks()


def test_it_can_be_saved_and_refuses_what_has_no_place(tmp_path):
    saved = save_chart(degree_scatter(DOTS, "Title", "Note", near=["gm"]), tmp_path / "scatter.svg")
    text = saved.read_text()
    assert all(f">{word}<" in text for word in (*DOTS, "Title", "Note"))
    with pytest.raises(UsageError, match="at least one build"):
        degree_scatter({}, "title", "note")
    with pytest.raises(UsageError, match="each of them an edge"):
        degree_scatter({"gm": Dot(0.0, 0, "published")}, "title", "note")


def test_a_frontier_is_a_line_through_the_dots_of_its_kind_and_of_no_other():
    dots = {"gm": Dot(4.0, 20, "published"), "8 hops": Dot(5.0, 8, "bound"), "6 hops": Dot(6.0, 6, "bound")}
    plain, joined = (
        hops_scatter(dots, "title", joined=kind).to_dict()["hconcat"][0]["layer"] for kind in ("", "bound")
    )
    assert len(joined) == len(plain) + 1
    assert joined[0]["mark"]["type"] == "line"
    assert {point["build"] for point in joined[0]["data"]["values"]} == {"8 hops", "6 hops"}
