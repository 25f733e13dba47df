"""Help as people read it, completion in shells, and what `--quiet` leaves."""

from __future__ import annotations

import re

import pytest

from topicloom.cli.commands import load_command
from topicloom.cli.content import COMMANDS as CONTENT
from topicloom.cli.main import COMMANDS, execute
from topicloom.cli.mesh import COMMANDS as MESH

ALL = [("topicloom.cli", name) for name in COMMANDS if name not in ("content", "mesh")]
ALL += [("topicloom.cli.content", name) for name in CONTENT] + [("topicloom.cli.mesh", name) for name in MESH]


@pytest.fixture
def complete(monkeypatch, capsys):
    """Return what bash offers for the last word of a line."""

    def run(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        monkeypatch.setenv("_TOPICLOOM_COMPLETE", "complete_bash")
        monkeypatch.setattr("sys.argv", ["topicloom"])
        with pytest.raises(SystemExit):
            execute([])
        return capsys.readouterr().out.split()

    return run


@pytest.mark.parametrize(("package", "name"), ALL, ids=[name for _, name in ALL])
def test_every_command_has_help_with_bare_flags_and_at_most_two_examples(package, name):
    command = load_command(package, name)
    context = command.context_class(command)
    flags = [one for one in command.get_params(context) if getattr(one, "is_flag", False)]
    assert len(flags) > 2 and all(one.metavar == "" for one in flags)
    assert all("\n" not in paragraph for paragraph in command.help.split("\n\n"))
    assert len(re.findall("^  topicloom", command.epilog or "", re.MULTILINE)) <= 2


def test_help_shows_groups_examples_and_no_types(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert execute(["build", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "<bool>" not in shown and "--seed                   SEED" in shown
    assert all(group in shown for group in ("─ Interest table", "─ Constraints", "─ Engine", "─ Output"))
    assert shown.rstrip().endswith("gm-m --out my-overlay --json")
    assert execute(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "--install-completion" in shown and "<bool>" not in shown


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("topicloom bu", {"build"}),
        ("topicloom build --alg", {"--algorithm"}),
        ("topicloom build --algorithm gm", {"gm", "gm-m"}),
        ("topicloom build --algorithm gm --set re", {"redundancy="}),
        ("topicloom build --algorithm nobody --set ", set()),
        ("topicloom build --engine ", {"auto", "local", "spark"}),
        ("topicloom compare t.csv --algorithms gm,ring", {"gm,ring-pt"}),
        ("topicloom simulate --protocol s", {"spidercast", "similarity"}),
        ("topicloom simulate --protocol similarity --set simil", {"similar="}),
        ("topicloom content plan --algorithm gr", {"greedy-packing"}),
        ("topicloom content plan --set tr", {"tries="}),
        ("topicloom content plan --core-model s", {"shared", "steiner"}),
        ("topicloom content simulate --set sett", {"settle="}),
        ("topicloom compare t.csv --algorithms gm,balanced --set gm:re", {"gm:redundancy="}),
        ("topicloom compare t.csv --algorithms nobody --set ", set()),
        ("topicloom compare t.csv --output-format m", {"markdown"}),
        ("topicloom export n", {"node-link", "nats"}),
        ("topicloom run m", {"mosquitto"}),
        ("topicloom example ", {"px4", "autoware", "chain", "brokers"}),
        ("topicloom generate --popularity z", {"zipf:"}),
        ("topicloom build tab", set()),
    ],
)
def test_shells_complete_commands_options_and_values(complete, line, offered):
    assert set(complete(line)) == offered


def test_quiet_leaves_only_what_must_not_be_missed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("who,what\na,x\nb,x\nc,x\n")
    (tmp_path / "e.csv").write_text("u,v\na,b\n")
    assert execute(["build", "t.csv", "--out", "b", "--engine", "local", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("t.csv: the first row was taken as a header") and err.count("\n") == 1
    assert execute(["verify", "b", "e.csv", "--engine", "local", "--quiet"]) == 1
    assert "NOT topic-connected" in capsys.readouterr().out
    assert execute(["build", "--list", "--quiet"]) == 0
    assert "balanced" in capsys.readouterr().out


def test_one_of_a_kind_is_told_as_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("node,topic\na,x\nb,x\n")
    for command in (
        ["build", "t.csv", "--out", "b"],
        ["verify", "b", "b"],
        ["inspect", "b"],
        ["simulate", "b"],
    ):
        assert execute([*command, "--engine", "local"]) == 0
        out, err = capsys.readouterr()
        assert not re.search(
            r"(?<![\d.,])1 (topics|nodes|edges|links|components|hops|subscriptions)\b", out + err
        )
    assert execute(["build", "t.csv", "--out", "b", "--engine", "local"]) == 0
    assert "2 nodes, 1 topic, 2 subscriptions" in capsys.readouterr().out
