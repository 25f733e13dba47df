"""`--timings`: all of the time is told, under names that a script can rely on, and only when asked for."""

from __future__ import annotations

import json

import pytest

from topicloom.cli.main import execute
from topicloom.cli.timings import TOLD, Timings


def test_a_command_tells_where_its_time_went(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("node,topic\na,x\nb,x\n")
    command = ["inspect", str(tmp_path / "t.csv"), "--engine", "local", "--json", "--quiet"]
    assert execute([*command, "--timings"]) == 0
    shown = capsys.readouterr()
    figures = json.loads(shown.out)["timings"]
    assert list(figures) == [*TOLD, "total"]
    assert figures["read"] > 0 and figures["total"] == pytest.approx(sum(figures[name] for name in TOLD))
    assert shown.err.startswith("where ") and "imports and options" in shown.err
    assert execute(command) == 0
    shown = capsys.readouterr()
    assert "timings" not in json.loads(shown.out) and shown.err == ""


def test_no_time_is_lost_between_phases():
    clock = Timings()
    for phase in ("read interest", "verify: count", "anything", None):
        clock.begin(phase)
    first, second = clock.figures(), clock.figures()
    assert second["total"] >= first["total"] == pytest.approx(sum(first[name] for name in TOLD))
