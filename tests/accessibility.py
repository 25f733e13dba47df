"""The automated accessibility check: contrast, names, roles, by axe-core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

AXE = Path(__file__).parent / "browser" / "vendored" / "axe.min.js"
VIOLATIONS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .map(one => one.id + ": " + one.nodes.map(node => node.html + node.failureSummary).join(" | "))"""


def judge(browser: Any, page_file: Path, scheme: str) -> list[str]:
    """Return what the check finds wrong with a page."""
    page = browser.new_page()
    page.emulate_media(color_scheme=scheme)
    page.goto(page_file.as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")
    page.evaluate(AXE.read_text())  # by the debugger, which the page's policy does not bind
    found: list[str] = page.evaluate(VIOLATIONS)
    page.close()
    return found
