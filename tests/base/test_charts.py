"""Charts: what is drawn is the distribution, files are whole and readable, nothing asks the network."""

from __future__ import annotations

import json
import struct
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topicloom.base.charts import degree_chart, degree_panel, save_chart
from topicloom.errors import InputError, UsageError

pytestmark = pytest.mark.slow

SMALL = {"gm": [1, 2, 2, 3], "ring-pt": [2, 2, 2, 8]}


def drawn(chart: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(points of the lines, dots) of a single chart."""
    line, dot = chart.to_dict()["layer"]
    return line["data"]["values"], dot["data"]["values"]


def test_a_line_tells_the_share_of_nodes_with_at_least_so_many_neighbors() -> None:
    points, dots = drawn(degree_chart(SMALL))
    gm = [(row["degree"], row["share"]) for row in points if row["build"].startswith("gm")]
    assert gm[:-1] == [(0, 100.0), (1, 100.0), (2, 75.0), (3, 25.0)]
    assert gm[-1][0] == 3
    assert gm[-1][1] < 1e-6, "the line must fall off the chart at the largest degree"
    assert [dot["degree"] for dot in dots] == [2.0, 3.5]
    assert [dot["build"] for dot in dots] == ["gm: average 2.0, largest 3", "ring-pt: average 3.5, largest 8"]


def test_degrees_and_histograms_draw_the_same() -> None:
    """A summary's `degree_histogram` has text keys; arrays come from an overlay."""
    by_list = degree_chart({"gm": [0, 1, 1, 4]}).to_dict()
    for same in (np.array([4, 1, 0, 1]), {0: 1, 1: 2, 4: 1}, {"0": 1, "1": 2, "4": 1}):
        assert degree_chart({"gm": same}).to_dict() == by_list


def test_a_long_tail_gets_a_logarithmic_axis() -> None:
    short = degree_chart({"gm": [3] * 50 + [9]}).to_dict()
    long = degree_chart({"star": [0] + [1] * 500 + [500]}).to_dict()
    scales = [chart["layer"][0]["encoding"]["x"]["scale"]["type"] for chart in (short, long)]
    assert scales == ["linear", "log"]


def test_a_build_keeps_its_colour_in_all_charts_of_a_panel() -> None:
    panel = degree_panel({"one": SMALL, "two": {"ring-pt": [2, 2]}, "three": SMALL}).to_dict()
    charts = [chart for row in panel["vconcat"] for chart in row["hconcat"]]
    domains = [chart["layer"][0]["encoding"]["color"]["scale"]["domain"] for chart in charts]
    assert domains == [["gm", "ring-pt"]] * 3
    assert charts[0]["title"]["subtitle"] == "average (largest): gm 2.0 (3), ring-pt 3.5 (8)"


def test_files_of_every_kind_are_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # whoever asks the network hears nothing
    chart = degree_chart(SMALL, "Two builds & more")
    png = save_chart(chart, tmp_path / "new folder" / "degrees.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert width > 800
    assert height > 600
    svg = ET.fromstring(save_chart(chart, tmp_path / "degrees.svg").read_text())
    words = " ".join(svg.itertext())
    assert "Two builds & more" in words
    assert "neighbors of a node (degree)" in words
    assert "gm: average 2.0, largest 3" in words
    html = save_chart(chart, tmp_path / "degrees.html").read_text()
    assert '<script src="http' not in html, "the page must work without the network"
    assert json.loads(save_chart(chart, tmp_path / "degrees.json").read_text())["layer"]
    assert save_chart(degree_panel({"a": SMALL}), tmp_path / "panel.png").stat().st_size > 1000
    assert not list(tmp_path.rglob(".tmp*"))


def test_an_earlier_file_stays_when_saving_fails(tmp_path: Path) -> None:
    target = tmp_path / "degrees.svg"
    target.write_text("before")

    class Broken:
        def __getattr__(self, _: str) -> Any:
            return lambda *_args, **_options: self

        def save(self, path: str, **_: object) -> None:
            Path(path).write_text("half")
            raise OSError("disk full")

    with pytest.raises(InputError, match=r"cannot write .*degrees\.svg"):
        save_chart(Broken(), target)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_what_cannot_be_drawn_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one build"):
        degree_chart({})
    with pytest.raises(UsageError, match="each of them a build"):
        degree_panel({"a": {}})
    with pytest.raises(UsageError, match=r"degrees\.jpeg: use an ending of png, svg, pdf, html, json"):
        save_chart(degree_chart(SMALL), tmp_path / "degrees.jpeg")


def test_empty_and_edgeless_overlays_can_be_drawn(tmp_path: Path) -> None:
    chart = degree_chart({"nobody": [], "alone": [0, 0]})
    assert save_chart(chart, tmp_path / "nothing.png").stat().st_size > 1000
