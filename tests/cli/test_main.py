"""The command line is light: help and version load no library that only the work needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from topicloom.cli import content, main
from topicloom.cli.commands import load_command, one_line_help

HEAVY = {
    "numba", "pyspark", "pyarrow", "altair", "matplotlib", "scipy", "networkx", "highspy", "paho", "nats",
    "zenoh", "psutil",
}  # fmt: skip
GROUPS = {main.__package__: main.COMMANDS, content.__name__: content.COMMANDS}
EVERY = [(package, name) for package, commands in GROUPS.items() for name in commands]


def loaded_by(script: str) -> set[str]:
    """The modules that a fresh process has loaded after it ran the script."""
    told = "\nimport json, sys; print(json.dumps(list(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script + told], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


@pytest.mark.parametrize(
    "arguments", ["--help", "--version", "run --help", "content --help", "pack --help", "generate --help"]
)
def test_help_and_version_load_nothing_heavy(arguments):
    script = f"""
from topicloom.cli.main import run
try:
    run({arguments.split()})
except SystemExit as end:
    assert end.code == 0
"""
    found = loaded_by(script)
    assert found & HEAVY == set()
    assert "topicloom.cli.main" in found


@pytest.mark.parametrize(("package", "name"), EVERY, ids=lambda one: one.rpartition(".")[2])
def test_the_one_line_help_is_the_first_paragraph_of_the_command(package, name):
    command = load_command(package, name)
    assert command.name == name
    assert " ".join(command.help.split("\n\n")[0].split()) == one_line_help(package, name)


def test_the_module_of_a_command_loads_no_builder_and_no_kernel():
    modules = [f"{main.__package__}.{name}" for name in main.COMMANDS if name not in ("verify", "export")]
    found = loaded_by("\n".join(f"import {module}" for module in modules))
    assert found & HEAVY == set()
    assert not [name for name in found if name.startswith("topicloom.overlay.builders.")]


def test_a_misspelt_command_is_one_sentence_that_names_the_right_one(capsys):
    assert main.execute(["bulid"]) == 2
    told = capsys.readouterr().err
    assert "No such command 'bulid'. Did you mean 'build'? See " in told and told.count("\n") == 1


def test_help_of_run_names_the_kinds_that_run():
    from topicloom.cli.run import KINDS
    from topicloom.mesh.kinds.registry import runnable

    assert KINDS.replace(" or ", ", ").split(", ") == list(runnable())
