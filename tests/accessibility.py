"""The automated accessibility check: contrast, names, roles, by axe-core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

AXE = Path(__file__).parent / "browser" / "vendored" / "axe.min.js"
VIOLATIONS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .map(one => one.id + ": " + one.nodes.map(node => node.html + node.failureSummary).join(" | "))"""


def judge(page: Any) -> list[str]:
    """Return what the check finds wrong with an open page."""
    page.evaluate(AXE.read_text())  # by the debugger, which the page's policy does not bind
    found: list[str] = page.evaluate(VIOLATIONS)
    return found
