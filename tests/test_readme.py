"""The README is a promise: its table of builders and its commands must be those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from topicloom.builders.registry import BUILDERS
from topicloom.cli.main import app

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_table_of_builders_is_the_registry():
    for key, builder in BUILDERS.items():
        row = f"| `{key}` | {builder.aim} | {builder.guarantee} | {builder.complexity} | {builder.paper} |"
        assert row in README


def test_every_command_in_the_readme_exists_and_every_command_is_in_the_readme():
    there = {command.name or command.callback.__name__ for command in app.registered_commands}
    shown = set(re.findall(r"(?:^|\$ |`)topicloom ([a-z]+)", README, re.MULTILINE))
    assert shown - there == set()
    assert there - shown - {"warm"} == set()
