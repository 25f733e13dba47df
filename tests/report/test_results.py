"""Pages about simulations, meshes and content plans, from the folders that the commands write."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import topicloom
from report_pages import made_up_run, small_interest, write_build, write_course
from topicloom.cli.main import execute
from topicloom.errors import InputError
from topicloom.report import write_report
from topicloom.report.drawing import graph as graphs
from topicloom.report.drawing.registry import make_drawing
from topicloom.report.drawing.replay import draw_simulation
from topicloom.report.figures import LineChart
from topicloom.report.sections.over_time import find_marks, make_over_time
from topicloom.report.sections.registry import make_sections
from topicloom.report.sources.meshes import read_exported
from topicloom.report.sources.recognise import read_subject
from topicloom.report.sources.simulations import read_simulation
from topicloom.report.titles import title_of


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("results") / "gm", small_interest())


@pytest.fixture(scope="module")
def simulation(build: Path) -> Path:
    settings = ("life=20", "crash=0.5", "seconds=20", "snapshot=2", "publish=2")
    return write_course(build.parent / "simulation", small_interest(), *settings)


def test_replayed_links_end_at_the_last_overlay(simulation: Path) -> None:
    links: set[tuple[str, str]] = set()
    for row in pq.read_table(simulation / "links.parquet").to_pylist():
        (links.add if row["change"] == "made" else links.remove)((row["u"], row["v"]))
    last = topicloom.load_build(simulation / "last").overlay.to_pandas()
    assert links == set(zip(last["u"], last["v"], strict=True))


def test_a_simulation_is_drawn_with_all_who_were_there(simulation: Path) -> None:
    subject = read_simulation(simulation)
    drawing = draw_simulation(subject)
    assert drawing is not None
    assert [moment.time for moment in drawing.moments] == [row["time"] for row in subject.snapshots]
    known = {
        end for row in pq.read_table(simulation / "links.parquet").to_pylist() for end in (row["u"], row["v"])
    }
    assert known <= {*drawing.nodes}


def test_churn_is_marked_by_its_worst() -> None:
    rows = [
        {"time": float(at), "joins": joins, "departures": gone, "crashes": crashed}
        for at, (joins, gone, crashed) in enumerate([(5, 0, 0), (6, 0, 0), (6, 1, 0), (6, 2, 1), (6, 2, 1)])
    ]
    assert [(mark.at, mark.kind) for mark in find_marks(rows)] == [
        (1.0, "join"),
        (2.0, "leave"),
        (3.0, "crash"),
    ]


def test_cuts_and_freezes_are_bands_in_every_chart_over_time(build: Path) -> None:
    settings = ("cut=2:4:0.3,5:6", "freeze=3:5:0.2", "seconds=8", "snapshot=2")
    folder = write_course(build.parent / "cut", small_interest(), *settings)
    section = make_over_time(read_simulation(folder))
    assert section is not None and "(grey), nodes were frozen (blue)" in section.notes[-1]
    for chart in section.charts:
        assert isinstance(chart, LineChart)
        assert [(band.kind, band.start, band.end) for band in chart.bands] == [
            ("cut", 2.0, 4.0),
            ("freeze", 3.0, 5.0),
            ("cut", 5.0, 6.0),
        ]
    assert chart.bands[0].label == "cut: 12 of 40 nodes do not reach the others"


def test_what_a_run_has_shown_is_told(build: Path, tmp_path: Path) -> None:
    """Killed, frozen and attacked brokers have sections, and the drawing knows who was killed."""
    mesh = tmp_path / "mesh"
    assert execute(["export", "mosquitto", str(build), "--out", str(mesh), "--quiet"]) == 0
    subject = read_exported(mesh, run=made_up_run("n0003"))
    found = make_sections(subject)
    assert found["run"].lead.endswith("when brokers were killed, frozen or attacked.")
    assert "0 of 1 left nothing broken behind" in found["failover"].lead
    assert found["frozen"].tables[0].rows[0].cells == ["n0003", "1 of 2", "–", "0.5 s", "yes"]
    assert found["attacks"].tables[0].rows[0].cells[4:] == ["t00 at n0001", "nothing"]
    assert found["attacks"].lead.endswith("Not tried: without TLS its place can be taken.")
    drawing = make_drawing(subject)
    assert drawing is not None
    told = drawing.notes[drawing.nodes.index("n0003")]
    assert told.endswith(
        "When it was killed, 2 of its 3 topics were interrupted, and backups took at most 1.5 s."
    )


def test_a_simulation_of_content_brokers_has_its_page(tmp_path: Path) -> None:
    problem, course, page = tmp_path / "problem", tmp_path / "course", tmp_path / "course.html"
    sizes = ["--users", "30", "--brokers", "3", "--channels", "5"]
    assert execute(["content", "generate", str(problem), *sizes, "--quiet"]) == 0
    assert execute(["content", "simulate", str(problem), "--out", str(course), "--quiet"]) == 0
    assert execute(["report", str(course), "--out", str(page), "--quiet"]) == 0
    shown = page.read_text().partition('id="data"')[0]
    assert "beside a central planner" in shown and "topicloom content simulate PROBLEM" in shown


def test_a_mesh_is_drawn_on_the_coordinates_of_its_hosts(build: Path, tmp_path: Path) -> None:
    mesh, page = tmp_path / "mesh", tmp_path / "mesh.html"
    assert execute(["export", "mosquitto", str(build), "--out", str(mesh), "--quiet"]) == 0
    nodes = [node["name"] for node in json.loads((mesh / "manifest.json").read_text())["nodes"]]
    hosts = tmp_path / "hosts.csv"
    rows = [f"{node},10.0.0.{place},{place},{place % 3}" for place, node in enumerate(nodes, 1)]
    hosts.write_text("\n".join(["node,host,x,y", *rows]))
    assert execute(["report", str(mesh), "--hosts", str(hosts), "--out", str(page), "--quiet"]) == 0
    assert "Brokers are where their hosts are." in page.read_text()
    drawing = make_drawing(read_subject([mesh]))
    assert drawing is not None and drawing.note == "" and drawing.graphs[0].carried is not None
    hosts.write_text("\n".join(["node,host,x,y", *rows[:-1], rows[-1].rsplit(",", 2)[0] + ",here,1"]))
    with pytest.raises(InputError, match="are not numbers"):
        write_report([mesh], tmp_path / "bad.html", hosts=hosts)


def test_a_mesh_is_proved_as_it_is_configured(build: Path, tmp_path: Path) -> None:
    assert execute(["export", "mosquitto", str(build), "--out", str(tmp_path / "mesh"), "--quiet"]) == 0
    subject = read_exported(tmp_path / "mesh")
    proved = make_sections(subject)["mesh-proof"]
    assert proved.figures[0].value == "9 / 9" and not proved.tables
    cut = replace(subject, mesh=replace(subject.mesh, links=subject.mesh.links[1:]))
    lost = set(subject.mesh.links[0].topics)
    broken = make_sections(cut)["mesh-proof"]
    assert {row.key for row in broken.tables[0].rows} == lost and broken.figures[0].tone == "bad"
    verdict = title_of(cut).verdict
    assert verdict is not None and verdict.tone == "bad"


def test_of_many_brokers_a_sample_is_drawn(build: Path, tmp_path: Path, monkeypatch) -> None:
    assert execute(["export", "mosquitto", str(build), "--out", str(tmp_path / "mesh"), "--quiet"]) == 0
    monkeypatch.setattr(graphs, "MOST_NODES", 12)
    drawing = make_drawing(read_subject([tmp_path / "mesh"]))
    assert drawing is not None and drawing.sampled and len(drawing.nodes) == len(drawing.notes) == 12
    assert "12 of 40 brokers are drawn" in drawing.note


def test_a_content_plan_stands_on_the_plane_of_its_problem(tmp_path: Path) -> None:
    problem, plan, page = tmp_path / "problem", tmp_path / "plan", tmp_path / "plan.html"
    sizes = ["--users", "30", "--brokers", "3", "--channels", "5"]
    assert execute(["content", "generate", str(problem), *sizes, "--quiet"]) == 0
    made = ["content", "plan", str(problem), "--algorithm", "greedy-packing", "--out", str(plan)]
    assert execute([*made, "--report", str(page), "--quiet"]) == 0
    assert "Users and brokers on the plane" in page.read_text()
    subject = read_subject([plan, problem])
    drawing = make_drawing(subject)
    assert drawing is not None and drawing.kinds.count("broker") == 3 and len(drawing.nodes) == 33
    alone = make_drawing(read_subject([plan]))
    assert alone is not None and alone.nodes == drawing.nodes
    with pytest.raises(InputError, match="plan it first"):
        read_subject([problem])


def test_a_report_without_a_folder_names_no_passing_one(tmp_path: Path) -> None:
    problem, page = tmp_path / "problem", tmp_path / "page.html"
    sizes = ["--users", "10", "--brokers", "2", "--channels", "3"]
    assert execute(["content", "generate", str(problem), *sizes, "--quiet"]) == 0
    made = ["content", "plan", str(problem), "--algorithm", "random", "--report", str(page), "--quiet"]
    assert execute(made) == 0
    shown = page.read_text().partition('id="data"')[0]
    assert "--out DIR" in shown and "topicloom-" not in shown.partition("<body>")[2]
