"""`topicloom build` without --algorithm: which builder ran, and why, is said and written."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import topicloom.overlay.builders.default as default
from topicloom.cli.main import execute
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

TABLE = "node,topic\na,x\nb,x\nb,y\nc,y\n"
INTEREST = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])


def test_the_choice_is_said_on_stderr_and_written_to_the_summary(spark, capsys, tmp_path, monkeypatch):
    table, out = tmp_path / "table.csv", tmp_path / "out"
    table.write_text(TABLE)

    def run(*options: str) -> tuple[dict[str, object], str]:
        code = execute(["build", str(table), "--out", str(out), "--json", *options])
        captured = capsys.readouterr()
        summary = json.loads(captured.out)
        assert code == 0
        assert json.loads((out / "summary.json").read_text()) == summary
        return summary, captured.err

    summary, said = run()
    assert summary["algorithm"] == "balanced"
    assert str(summary["choice"]).startswith("balanced: no algorithm was named")
    assert said == f"{summary['choice']}\n"
    monkeypatch.setattr(default, "MOST_SECONDS", -1.0)
    summary, said = run("--quiet")
    assert summary["algorithm"] == "dcbr-m"
    assert set(summary["parameters"]) >= {"eta", "p"}
    assert "`algorithm=balanced` runs it all the same" in str(summary["choice"])
    assert said == ""


def test_a_named_builder_is_no_choice_and_parameters_of_balanced_keep_it(monkeypatch):
    monkeypatch.setattr(default, "MOST_SECONDS", -1.0)
    named = BuildRequest.of("gm", []).settled(INTEREST)
    assert (named.algorithm, named.reason) == ("gm", "")
    assert BuildRequest.of("balanced", []).settled(INTEREST).algorithm == "balanced"
    assert BuildRequest.of(None, []).settled(INTEREST).algorithm == "dcbr-m"
    given = BuildRequest.of(None, ["work=1"]).settled(INTEREST)
    assert (given.algorithm, given.parameters["work"]) == ("balanced", 1)
    assert given.reason.startswith("balanced: parameters or constraints of its were given")
    capped = replace(BuildRequest.of(None, []), constraints=Constraints.of(INTEREST.node_ids, caps=2))
    assert capped.settled(INTEREST).algorithm == "balanced"
    started = replace(BuildRequest.of(None, []), start=Overlay.from_edges(INTEREST.node_ids, [0], [1]))
    assert started.settled(INTEREST).algorithm == "balanced"


@pytest.mark.parametrize(
    ("option", "message"), [("eta=3", "balanced does not know 'eta'"), ("work=never", "--set work=never")]
)
def test_settings_are_those_of_balanced(capsys, tmp_path, option, message):
    """Without a name --set is understood as a parameter of balanced, and refused before anything is read."""
    assert execute(["build", "missing.csv", "--out", str(tmp_path / "out"), "--set", option]) == 2
    assert message in capsys.readouterr().err


def test_a_named_balanced_tells_its_moves_first(capsys, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(TABLE)
    words = ["build", str(table), "--out", str(tmp_path / "out"), "--engine", "local", "--json"]
    assert execute([*words, "--algorithm", "balanced"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines()[0] == "balanced: work=auto: 20 moves per edge, under 1 s on this machine"
    assert "choice" not in json.loads(captured.out)
