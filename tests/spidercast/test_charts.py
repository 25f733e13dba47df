"""The chart of a simulation shows the figures of its snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.base.charts import save_chart
from topicloom.errors import UsageError
from topicloom.spidercast.charts import course_chart
from topicloom.spidercast.simulator.outages import Outage

pytestmark = pytest.mark.slow

ROWS = [
    {"time": float(t), "nodes": 10 + t, "degree_avg": 3.5, "degree_max": 6, "topics_partitioned": t % 2}
    for t in range(4)
]


def test_every_figure_is_drawn_over_time() -> None:
    degree, nodes, topics = course_chart(ROWS, "A course").to_dict()["vconcat"]
    assert len(degree["data"]["values"]) == 8
    assert [(row["time"], row["value"]) for row in nodes["data"]["values"]] == [
        (0, 10),
        (1, 11),
        (2, 12),
        (3, 13),
    ]
    assert [row["value"] for row in topics["data"]["values"]] == [0, 1, 0, 1]


def test_a_course_without_trouble_still_has_an_axis() -> None:
    calm = [row | {"topics_partitioned": 0} for row in ROWS]
    low, high = course_chart(calm, "A course").to_dict()["vconcat"][2]["encoding"]["y"]["scale"]["domain"]
    assert low == 0 < high


def test_it_can_be_saved(tmp_path: Path) -> None:
    assert save_chart(course_chart(ROWS, "A course"), tmp_path / "course.svg").read_text().startswith("<svg")


def test_no_snapshots_no_chart() -> None:
    with pytest.raises(UsageError):
        course_chart([], "A course")


def test_cuts_freezes_and_crashes_are_marked_behind_the_split_topics() -> None:
    marks = [Outage("cut", 1.0, 2.0, 3), Outage("freeze", 2.0, 3.0, 1)]
    drawn = course_chart(ROWS, "A simulation", marks, [1.5, 2.5]).to_dict()
    layers = drawn["vconcat"][-1]["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["rect", "rect", "rule", "line"]
    assert layers[2]["data"]["values"] == [{"time": 1.5}, {"time": 2.5}]
    assert "layer" not in course_chart(ROWS, "A simulation").to_dict()["vconcat"][-1]
