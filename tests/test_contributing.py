"""What CONTRIBUTING.md says of the tree must be so: its map, its paths, its recipes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
PLACES = [ROOT, ROOT / "src" / "topicloom"]


def test_the_map_is_the_tree_of_today():
    """A package that was added, removed or described anew must show."""
    drawn = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "draw_map.py")], capture_output=True, text=True, check=True
    ).stdout
    assert drawn == (ROOT / "docs" / "map.svg").read_text()
    packages = {path.parent.name for path in (ROOT / "src" / "topicloom").glob("*/__init__.py")}
    assert packages == set(re.findall(r'class="name"[^>]*>(\w+)<', drawn))


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/.-]+/[\w/.-]+)`", TEXT))))
def test_every_path_is_there(path):
    if "NAME" not in path and path != "build/site":  # the site is made by `make docs`
        assert any((place / path).exists() for place in PLACES), path


def test_every_recipe_has_a_test_that_follows_it():
    recipes = re.findall(r"^\*\*(A .+?)\*\* \(`(tests/[\w/]+\.py)`\)$", TEXT, re.MULTILINE)
    assert [name for name, _ in recipes] == [
        "A builder", "A measure", "A planner", "A kind of broker", "A section of the report",
        "A simulated protocol", "A figure of a paper",
    ]  # fmt: skip
    for _, test in recipes:
        assert "def test_" in (ROOT / test).read_text(), test
