"""Pictures of the documentation, made by the code that they show: `make docs-figures`.

python docs/docs_figures.py          writes docs/report.png and docs/report-dark.png, with Chromium, and
                                     docs/failures.svg, without
"""

from __future__ import annotations

import csv
import gzip
import shutil
import tempfile
from pathlib import Path
from runpy import run_path

import topicloom
from topicloom.overlay import sample_path
from topicloom.report import view_builds, write_subject

HERE = Path(__file__).parent
ALGORITHMS = ("balanced", "gm", "gm-m", "low-oda", "ring-pt")  # those of `topicloom demo`
FLAGS = (
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)  # fmt: skip
SHOWN = "vehicle_command"  # the topic that is picked
# Charts and drawing one beside the other: the parts of the page that a picture can show.
WIDTH, HEIGHT = 1280, 960


def demo_page() -> str:
    """Return the report of the demo's builders on the PX4 table."""
    with gzip.open(sample_path("px4"), "rt", newline="") as file:
        rows = [(row[0], row[1]) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    interest = topicloom.Interest.from_pairs(rows)
    builds = [topicloom.build(interest, name, seed=1) for name in ALGORITHMS]
    subject = view_builds(interest, builds, name="PX4 flight stack")
    with tempfile.TemporaryDirectory() as folder:
        return write_subject(subject, Path(folder) / "page.html").read_text(encoding="utf-8")


def draw() -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder) / "page.html"
        page_file.write_text(demo_page(), encoding="utf-8")
        context = driver.chromium.launch_persistent_context(
            Path(folder) / "profile",
            executable_path=shutil.which("chromium"),
            headless=True,
            args=list(FLAGS),
            viewport={"width": WIDTH, "height": HEIGHT},
        )
        for scheme, section, name in (
            ("light", "drawing", "report.png"),
            ("dark", "compared", "report-dark.png"),
        ):
            page = context.new_page()
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(page_file.as_uri())
            page.wait_for_function("document.documentElement.dataset.ready === 'true'")
            page.fill("#draw-topic", SHOWN)
            page.press("#draw-topic", "Enter")
            page.locator("#draw-topic").blur()
            page.wait_for_timeout(1000)  # until charts have their size
            page.evaluate("id => document.getElementById(id).scrollIntoView({behavior: 'instant'})", section)
            page.wait_for_timeout(1000)
            page.screenshot(path=HERE / name)
        context.close()


if __name__ == "__main__":
    draw()
    run_path(str(HERE.parent / "examples" / "failures_figures.py"))["main"](
        "2000", str(HERE / "failures.svg")
    )
