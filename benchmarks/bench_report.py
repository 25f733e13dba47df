"""Reports: how long the page of a build takes, how large it is, and when a reader can use it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.bench_builders import drawn
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, in_child, measure

TITLE = "reports"
LAYOUT_SECONDS, OPEN_SECONDS, PAGE_MEGABYTES = 10.0, 3.0, 5.0
SIZES = ((2_000, 100), (5_000, 200), (20_000, 400))  # nodes, topics; 10 topics per node
READY = "document.documentElement.dataset.ready === 'true'"
FLAGS = (
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)  # fmt: skip

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    for nodes, topics in SIZES[: 1 if options.quick else None]:
        case = f"V={nodes:,} T={topics} s=10, gm"
        page = options.scratch / f"report-{nodes}.html"
        yield attempt("Writing", case, partial(_written, nodes, topics, page))
        yield attempt("Opening in Chromium, without a graphics card", case, partial(_opened, page))


def _written(nodes: int, topics: int, page: Path) -> Cells:
    answer = in_child("bench_report:write_page", nodes=nodes, topics=topics, page=str(page))
    return {
        "placing the nodes": Figure(answer["layout"], "s", LAYOUT_SECONDS),
        "all": Figure(answer["seconds"], "s"),
        "page": Figure(answer["bytes"] / 1e6, "MB", PAGE_MEGABYTES if nodes <= 2_000 else None),
        "edges": f"{answer['edges']:,}",
    }


def write_page(nodes: int, topics: int, page: str) -> dict[str, Any]:
    """In a child: build once, place the nodes, then write the whole page."""
    import topicloom
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
    from topicloom.report import view_builds, write_subject
    from topicloom.report.drawing.graph import draw_overlays

    workload = workload_from_options(**drawn(nodes, topics, "10", "zipf:0.5"))
    interest = generate_interest(workload)
    build = topicloom.build(interest, "gm")
    layout = measure(lambda: draw_overlays(interest, [("gm", build.overlay)]), 1)
    written = measure(lambda: write_subject(view_builds(interest, [build], bounds=False), Path(page)), 1)
    return {
        "layout": layout.seconds,
        "seconds": written.seconds,
        "bytes": Path(page).stat().st_size,
        "edges": build.n_edges,
    }


def _opened(page: Path) -> Cells:
    if shutil.which("chromium") is None:
        raise NotRun("chromium is not installed")
    if not page.exists():
        raise NotRun("there is no page")
    answer = in_child("bench_report:open_page", page=str(page))
    return {
        "until a topic is lit": Figure(answer["seconds"], "s", OPEN_SECONDS),
        "another topic": Figure(answer["again"], "s"),
        "work of the page": Figure(answer["work"], "s"),
    }


def open_page(page: str) -> dict[str, Any]:
    """In a child: open the page in a browser that runs already, pick a topic, and another one."""
    import tempfile
    import time

    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as profile, sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            profile, executable_path=shutil.which("chromium"), headless=True, args=list(FLAGS),
            viewport={"width": 1280, "height": 900},
        )  # fmt: skip
        sheet = context.new_page()
        watcher = context.new_cdp_session(sheet)
        watcher.send("Performance.enable", {"timeDomain": "threadTicks"})
        start = time.perf_counter()
        sheet.goto(Path(page).as_uri())
        sheet.wait_for_function(READY)
        took = []
        names = sheet.evaluate("JSON.parse(document.getElementById('data').textContent).drawing.topics")
        for name in names[7:9]:
            sheet.fill("#draw-topic", name)
            sheet.press("#draw-topic", "Enter")
            sheet.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
            took.append(time.perf_counter() - start)
            start = time.perf_counter()
        found = {one["name"]: one["value"] for one in watcher.send("Performance.getMetrics")["metrics"]}
        context.close()
    return {"seconds": took[0], "again": took[1], "work": found["TaskDuration"]}
