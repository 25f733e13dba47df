"""Pages about simulations, meshes and plans, and charts in notebooks: they open without faults and answer."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

import topicloom
from accessibility import judge
from report_pages import (
    HOSTILE,
    INK,
    hostile_interest,
    made_up_run,
    small_interest,
    write_build,
    write_course,
)
from topicloom.cli.main import execute
from topicloom.mesh.model.manifest import read_mesh
from topicloom.report import write_report, write_subject
from topicloom.report.sources.meshes import read_exported

pytestmark = [pytest.mark.needs("chromium", "playwright"), pytest.mark.slow]
SETTINGS = ("life=20", "crash=0.5", "cut=4:6", "freeze=5:7:0.2", "seconds=10", "snapshot=2", "publish=2")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a page of every kind, named after it."""
    folder = tmp_path_factory.mktemp("results")
    write_course(folder / "simulation", small_interest(), *SETTINGS)
    write_report([folder / "simulation"], folder / "simulation.html")
    build, mesh = write_build(folder / "gm", small_interest()), folder / "mesh"
    problem, sizes = str(folder / "problem"), ["--users", "30", "--brokers", "3", "--channels", "5"]
    plan, rounds = str(folder / "plan.html"), str(folder / "rounds")
    for command in (
        ["export", "mosquitto", str(build), "--out", str(mesh)],
        ["content", "generate", problem, *sizes],
        ["content", "plan", problem, "--algorithm", "greedy-packing", "--report", plan],
        ["content", "simulate", problem, "--out", rounds],
        ["report", rounds, "--out", f"{rounds}.html"],
    ):
        assert execute([*command, "--quiet"]) == 0
    write_subject(read_exported(mesh, run=made_up_run("n0003")), folder / "mesh.html")
    return folder


@pytest.mark.parametrize("kind", ["simulation", "mesh", "plan", "rounds"])
def test_every_kind_opens_in_both_modes_and_passes_the_accessibility_check(opened, results, kind) -> None:
    for scheme in ("light", "dark"):
        page = opened(results / f"{kind}.html", scheme)
        assert judge(page) == []
    for width in (1280, 390):  # nothing sticks out at the side
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    if page.locator("#draw-canvas").count():  # on paper the drawing is there, and light
        page.emulate_media(media="print")
        ink, theme = page.evaluate(INK, True)
        assert ink > 5_000 and theme == "light"


def test_the_slider_shows_the_links_of_a_moment(opened, results) -> None:
    page = opened(results / "simulation.html")
    slider = page.locator(".replay input")
    slider.focus()
    page.keyboard.press("Home")
    rows = pq.read_table(results / "simulation" / "links.parquet").to_pylist()
    first = {frozenset((row["u"], row["v"])) for row in rows if row["time"] == 2.0}
    assert {frozenset(edge) for edge in page.evaluate("topicloom.litEdges()")} == first
    assert page.evaluate("topicloom.choice.moment") == 2.0
    page.keyboard.press("End")
    last = topicloom.load_build(results / "simulation" / "last").overlay
    assert len(page.evaluate("topicloom.litEdges()")) == last.n_edges


def test_cuts_and_freezes_stand_behind_the_lines(opened, results) -> None:
    page = opened(results / "simulation.html")
    assert page.locator("[data-chart=course-split] .band").count() == 2
    page.locator("[data-chart=course-split] .surface").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "cut: 20 of 40 nodes do not reach the others" in page.inner_text("#tip")


def test_a_topic_of_a_mesh_lights_the_links_that_carry_it(opened, results) -> None:
    page = opened(results / "mesh.html")
    page.focus("#draw-topic")
    page.keyboard.type("t03")
    page.keyboard.press("Enter")
    links = read_mesh(results / "mesh").links
    carried = {frozenset((one.dialer, one.acceptor)) for one in links if "t03" in one.topics}
    assert {frozenset(edge) for edge in page.evaluate("topicloom.litEdges()")} == carried
    page.focus("#draw-node")
    page.keyboard.type("n0003")
    page.keyboard.press("Enter")
    assert "When it was killed" in page.inner_text("#draw-panel")


def test_the_brokers_of_a_plan_answer(opened, results) -> None:
    page = opened(results / "plan.html")
    page.focus("#draw-node")
    page.keyboard.type("b")
    page.keyboard.press("Enter")
    assert "broker:" in page.inner_text("#draw-panel")


def test_hostile_names_of_a_simulation_are_text(opened, tmp_path) -> None:
    folder = write_course(tmp_path / "course", hostile_interest(), "seconds=6", "snapshot=2")
    page = opened(write_report([folder], tmp_path / "course.html"))
    assert page.locator("img").count() == 0
    page.locator(".replay input").focus()
    page.keyboard.press("Home")
    assert page.evaluate("topicloom.choice.moment") == 2.0


def test_hostile_names_of_a_mesh_are_text(opened, tmp_path) -> None:
    build, mesh = write_build(tmp_path / "gm", hostile_interest()), tmp_path / "mesh"
    assert execute(["export", "mosquitto", str(build), "--literal", "--out", str(mesh), "--quiet"]) == 0
    run = replace(made_up_run(HOSTILE[1]), nodes=len(HOSTILE))
    page = opened(write_subject(read_exported(mesh, run=run), tmp_path / "mesh.html"))
    assert page.locator("img").count() == 0
    assert HOSTILE[1] in page.inner_text("body")


def test_hostile_names_of_a_plan_are_text(opened, tmp_path) -> None:
    problem, plan = str(tmp_path / "problem"), tmp_path / "plan.html"
    sizes = ["--users", "8", "--brokers", "2", "--channels", "3", "--quiet"]
    assert execute(["content", "generate", problem, *sizes]) == 0
    names = {f"u{place + 1:04d}": name for place, name in enumerate(HOSTILE[:5])} | {"b01": HOSTILE[7]}
    for file in (tmp_path / "problem").glob("*.parquet"):
        table = pq.read_table(file)
        for column in {"user", "broker", "id"} & set(table.column_names):
            renamed = [names.get(name, name) for name in table[column].to_pylist()]
            table = table.set_column(table.column_names.index(column), column, [renamed])
        pq.write_table(table, file)
    command = ["content", "plan", problem, "--algorithm", "greedy-packing", "--report", str(plan), "--quiet"]
    assert execute(command) == 0
    page = opened(plan)
    assert page.locator("img").count() == 0
    page.focus("#draw-node")
    page.keyboard.type(HOSTILE[7])
    page.keyboard.press("Enter")
    assert HOSTILE[7] in page.inner_text("#draw-panel")


def test_charts_of_a_comparison_stand_in_a_notebook(opened, tmp_path) -> None:
    html = topicloom.compare(small_interest(), ["gm", "ring-pt"])._repr_html_()
    notebook = tmp_path / "notebook.html"
    ready = "<script>document.documentElement.dataset.ready = 'true'</script>"
    notebook.write_text(f"<!doctype html><title>cell</title>{html}{ready}", encoding="utf-8")
    page = opened(notebook)
    frame = page.frame_locator("iframe")
    frame.locator("[data-chart=degrees] .series").first.wait_for()
    assert frame.locator("[data-chart=degrees] .series").count() == 2
