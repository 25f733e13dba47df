"""README and docs are promises: their tables of builders and their commands must be those of the code."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer

from topicloom.cli.commands import load_command
from topicloom.cli.content import COMMANDS as CONTENT_COMMANDS
from topicloom.cli.main import COMMANDS, app
from topicloom.cli.mesh import COMMANDS as MESH_COMMANDS
from topicloom.content.brokers import user_rules
from topicloom.content.planners.registry import PLANNERS
from topicloom.mesh.jobs.export import exporters
from topicloom.overlay.builders.registry import BUILDERS
from topicloom.spidercast.protocol import event_rules, gossip_rules, link_rules, root_rules

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
BUILDERS_PAGE, SPIDERCAST_PAGE, CONTENT_PAGE, MESHES_PAGE = (
    PAGES[name] for name in ("builders", "spidercast", "content", "meshes")
)
OTHERS = {
    "--py-files",
    "--archives",
    "--conf",
    "--host",
    "--port",
    "--cores",
    "--memory",
    "--wheel",
    "--no-isolation",
    "--help",
}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 200


def test_the_table_of_builders_is_the_registry():
    for key, builder in BUILDERS.items():
        row = f"| `{key}` | {builder.aim} | {builder.guarantee} | {builder.complexity} | {builder.paper} |"
        assert row in BUILDERS_PAGE
    shown = set(re.findall(r"^\| `([^`]+)` \|(?:[^|\n]*\|){4}$", BUILDERS_PAGE, re.MULTILINE))
    assert shown == set(BUILDERS), "a builder that is gone must not stay in the table"


def test_the_readme_names_every_builder_and_no_other():
    named = re.search(r"\[builders\]\(docs/builders\.md\): (.*?)\. ", README)
    assert named is not None
    assert set(re.findall(r"`([^`]+)`", named[1])) == set(BUILDERS)


def test_the_tables_of_builders_are_those_that_the_script_prints():
    script = ROOT / "examples" / "builders_table.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    for table in done.stdout.strip().split("\n\n"):
        assert table in BUILDERS_PAGE, f"run {script.name} and paste what it prints"


def test_every_builder_that_takes_such_an_interest_is_in_the_picture():
    picture = ET.parse(ROOT / "docs" / "builders.svg")
    assert set(BUILDERS) - {"exact"} <= set(picture.getroot().itertext())


def test_every_command_in_the_readme_exists_and_every_command_is_in_the_readme():
    there = set(COMMANDS)
    shown = set(re.findall(r"(?:^|\$ |`)topicloom ([a-z]+)", README, re.MULTILINE))
    assert shown - there == set()
    assert there - shown - {"warm"} == set()


def test_every_command_in_the_docs_exists():
    there = set(COMMANDS)
    for name, page in PAGES.items():
        shown = set(re.findall(r"(?:^|\$ |`)topicloom ([a-z]+)", page, re.MULTILINE))
        assert shown - there == set(), name


def test_every_content_command_that_is_shown_exists_and_every_one_is_shown():
    pages = README + CONTENT_PAGE
    shown = set(re.findall(r"(?:\$ topicloom |`topicloom |`)content ([a-z]+)", pages))
    assert shown == set(CONTENT_COMMANDS)


def test_every_kind_of_broker_is_on_the_page_of_meshes():
    graphs = "graphml|node-link|edge-list|dot"
    brokers = set(re.findall(r"^\| `([a-z]+)` \|", MESHES_PAGE, re.MULTILINE))
    assert f"`topicloom export {graphs} BUILD --out DIR`" in MESHES_PAGE
    assert brokers | set(graphs.split("|")) == set(exporters())


def test_the_table_of_planners_is_the_registry():
    for key, planner in PLANNERS.items():
        assert f"| `{key}` | {planner.aim} | {planner.complexity} | {planner.paper} |" in CONTENT_PAGE


def test_the_rules_of_a_user_in_the_docs_are_those_of_the_brokers():
    plain = [line.rstrip() for line in user_rules.rule_table().splitlines()]
    assert "\n".join(plain) in CONTENT_PAGE, "paste what `topicloom content simulate --rules` prints"


@pytest.mark.parametrize("rules", [link_rules, root_rules, gossip_rules, event_rules])
def test_the_rules_of_nodes_in_the_docs_are_those_of_the_protocol(rules):
    assert rules.rule_table() in SPIDERCAST_PAGE, "paste what `topicloom simulate --rules` prints"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README", "constraints", "python", "spidercast", "content", "builders"])
def test_python_on_the_pages_runs(name, tmp_path, monkeypatch):
    """Lines that read a table of other sections are left out: reading has tests of its own."""
    monkeypatch.chdir(tmp_path)
    page = README if name == "README" else PAGES[name]
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    lines = [line for line in "".join(blocks).splitlines() if not re.search(r"topicloom\.read\(", line)]
    exec("\n".join(lines), {})


def test_every_option_that_is_documented_exists():
    there = set(re.findall(r"--[a-z][a-z-]+", "\n".join([README, *PAGES.values()])))
    names = [("topicloom.cli", name) for name in COMMANDS]
    names += [("topicloom.cli.content", name) for name in CONTENT_COMMANDS]
    names += [("topicloom.cli.mesh", name) for name in MESH_COMMANDS]
    commands = [typer.main.get_command(app), *(load_command(*name) for name in names)]
    known = {option for command in commands for one in command.params for option in one.opts}
    assert there - known - OTHERS == set()


def test_every_source_file_that_is_named_exists():
    folders = [ROOT, ROOT / "src" / "topicloom", ROOT / "src"]
    for name, page in {"README": README, **PAGES}.items():
        for file in re.findall(r"`([a-z_/]+/[a-z_]+\.(?:py|js|json))`", page):
            assert any((folder / file).exists() for folder in folders), f"{name}: {file}"
