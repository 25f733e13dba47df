"""What takes only paths of this machine refuses addresses: none may become a folder named `s3a:`.

`topicloom build` does write behind an address: tests/overlay/jobs/test_build_address.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.base.addresses import is_address
from topicloom.base.atomic_write import replacing
from topicloom.cli.main import execute
from topicloom.errors import UsageError

WRITING = [
    ["simulate", "TABLE", "--protocol", "spidercast", "--report"],
    ["compare", "TABLE", "--algorithms", "star", "--out"],
    ["compare", "TABLE", "--algorithms", "star", "--plot"],
    ["verify", "TABLE", "TABLE", "--all"],
    ["simulate", "TABLE", "--protocol", "spidercast", "--out"],
    ["export", "dot", "x", "--out"],
    ["mesh", "rollout", "x", "y", "--out"],
    ["content", "generate", "--users", "5", "--brokers", "2", "--channels", "3"],
    ["content", "traffic", "--log", "TABLE", "--subscriptions", "TABLE", "--out"],
    ["content", "plan", "x", "--out"],
    ["content", "simulate", "x", "--out"],
    ["report", "x", "--out"],
    ["demo", "--out"],
    ["pack"],
]


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_a_result_behind_an_address_is_refused_before_any_work(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("node,topic\na,x\nb,x\n")
    words = [word.replace("TABLE", "table.csv") for word in command]
    ending = {"--report": ".html", "--plot": ".png", "--all": ".jsonl", "pack": ".tar.gz"}
    place = f"s3a://bucket/x{ending.get(command[-1], '.html' if command[0] == 'report' else '')}"
    assert execute([*words, place]) == 2
    told = capsys.readouterr().err
    assert f"{place} is an address" in told, told
    assert told.count("\n") == 1
    if command[-1].startswith("--"):
        assert f"{command[-1]} {place}" in told
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_nothing_is_replaced_behind_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="hdfs://host/x is an address"), replacing(Path("hdfs://host/x")):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_is_an_address():
    assert is_address("s3a://b/x") and is_address("file:/x") and is_address("viewfs://store/data")
    assert not is_address("/a/b") and not is_address("a:b/c") and not is_address("C:/x")
