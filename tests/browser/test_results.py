"""Pages about simulations, meshes and plans, and charts in notebooks: they open without faults and answer."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import topicloom
from report_pages import small_interest, write_build, write_course
from topicloom.cli.main import execute
from topicloom.report import write_report

pytestmark = [pytest.mark.needs("chromium", "playwright"), pytest.mark.slow]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("results") / "gm", small_interest())


def test_the_slider_shows_the_links_of_a_moment(opened, build) -> None:
    folder = write_course(
        build.parent / "simulation", small_interest(), "life=20", "seconds=10", "snapshot=2"
    )
    page = opened(write_report([folder], build.parent / "simulation.html"))
    slider = page.locator(".replay input")
    slider.focus()
    page.keyboard.press("Home")
    rows = pq.read_table(folder / "links.parquet").to_pylist()
    first = {frozenset((row["u"], row["v"])) for row in rows if row["time"] == 2.0}
    assert {frozenset(edge) for edge in page.evaluate("topicloom.litEdges()")} == first
    assert page.evaluate("topicloom.choice.moment") == 2.0
    page.keyboard.press("End")
    last = topicloom.load_build(folder / "last").overlay
    assert len(page.evaluate("topicloom.litEdges()")) == last.n_edges


def test_a_topic_of_a_mesh_lights_the_links_that_carry_it(opened, build) -> None:
    mesh = build.parent / "mesh"
    assert execute(["export", "mosquitto", str(build), "--out", str(mesh), "--quiet"]) == 0
    page = opened(write_report([mesh], build.parent / "mesh.html"))
    page.focus("#draw-topic")
    page.keyboard.type("t03")
    page.keyboard.press("Enter")
    from topicloom.mesh.model.manifest import read_mesh

    carried = {frozenset((one.dialer, one.acceptor)) for one in read_mesh(mesh).links if "t03" in one.topics}
    assert {frozenset(edge) for edge in page.evaluate("topicloom.litEdges()")} == carried


def test_a_plan_opens_and_its_brokers_answer(opened, tmp_path) -> None:
    problem, page_file = tmp_path / "problem", tmp_path / "plan.html"
    sizes = ["--users", "30", "--brokers", "3", "--channels", "5"]
    assert execute(["content", "generate", str(problem), *sizes, "--quiet"]) == 0
    made = ["content", "plan", str(problem), "--algorithm", "greedy-packing", "--report", str(page_file)]
    assert execute([*made, "--quiet"]) == 0
    page = opened(page_file)
    page.focus("#draw-node")
    page.keyboard.type("b")
    page.keyboard.press("Enter")
    assert "broker:" in page.inner_text("#draw-panel")


def test_charts_of_a_comparison_stand_in_a_notebook(opened, tmp_path) -> None:
    html = topicloom.compare(small_interest(), ["gm", "ring-pt"])._repr_html_()
    notebook = tmp_path / "notebook.html"
    ready = "<script>document.documentElement.dataset.ready = 'true'</script>"
    notebook.write_text(f"<!doctype html><title>cell</title>{html}{ready}", encoding="utf-8")
    page = opened(notebook)
    frame = page.frame_locator("iframe")
    frame.locator("[data-chart=degrees] .series").first.wait_for()
    assert frame.locator("[data-chart=degrees] .series").count() == 2
