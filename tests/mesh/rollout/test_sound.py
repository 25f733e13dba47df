"""Files of somebody else: meshes that are none, secrets of another mesh, plans that name strangers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mesh.rollout.test_rollout import changed, exported, sites, swapped
from topicloom.cli.main import execute
from topicloom.errors import InputError
from topicloom.mesh.jobs.rollout import RolloutOptions, plan_rollout
from topicloom.mesh.jobs.run import run_rollout
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.running_mesh import RunSettings

PAIRS = sites(3, nodes=5, topics=4)
LOGINS = {node: Login(node, f"of-{node}") for node, _ in PAIRS}
Edit = Callable[[dict[str, Any]], object]


def edit(path: Path, change: Edit) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def refused(old: Path, words: str) -> None:
    after, out = changed(old, swapped(PAIRS, 2, 1)), old.parent / "out"
    with pytest.raises(InputError, match=words):
        plan_rollout(old, after, out=out, options=RolloutOptions(overwrite=True))
    assert not out.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda mesh: mesh["links"].clear(), "manifest.json is damaged: no links lead topic"),
        (
            lambda mesh: mesh["links"].append({**mesh["links"][0], "name": "again"}),
            "is damaged: topic .* may hold a loop",
        ),
        (lambda mesh: mesh["topics"][0]["subscribers"].pop(), "which does not want it"),
    ],
)
def test_a_manifest_whose_links_are_no_mesh(change: Edit, words: str, tmp_path: Path) -> None:
    """It ended in an AssertionError."""
    old = exported("mosquitto", tmp_path / "old", PAIRS)
    edit(old / "manifest.json", change)
    refused(old, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda own: own["clients"].pop("n00"), "secrets.json has no login 'n00' for node 'n00'"),
        (lambda own: own["clients"]["n01"].update(user="eve"), "secrets.json has no login 'n01'"),
        (lambda own: own["links"].clear(), "secrets.json has no password for link"),
        (lambda own: own["links"].update(x="a\nb"), "a login has a control character"),
    ],
)
def test_secrets_of_another_mesh(change: Edit, words: str, tmp_path: Path) -> None:
    """Brokers got new passwords without a word; a line break in one was an option of its own."""
    old = exported("mosquitto", tmp_path / "old", PAIRS, logins=LOGINS)
    edit(old / "secrets.json", change)
    refused(old, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plan: plan["brokers_touched"]["phase2"].append("ghost"), "phase 2 touches 'ghost'"),
        (lambda plan: plan["brokers_touched"]["phase2"].append("n01"), "phase 2 touches a node twice"),
        (lambda plan: plan["brokers_reloaded"]["phase1"].append("ghost"), "phase 1 reloads 'ghost'"),
        (lambda plan: plan.update(brokers_touched={"phase2": []}), "differ, but phase"),
    ],
)
def test_a_plan_of_another_mesh(change: Edit, words: str, tmp_path: Path) -> None:
    old = exported("mosquitto", tmp_path / "old", PAIRS)
    plan_rollout(old, changed(old, swapped(PAIRS, 2, 1)), out=tmp_path / "new")
    path = tmp_path / "new/rollout.json"
    edit(path, lambda plan: plan["brokers_touched"].update(phase2=["n01"]) if "twice" in words else None)
    edit(path, change)
    with pytest.raises(InputError, match=words):
        run_rollout("mosquitto", old, tmp_path / "new", RunSettings())


def test_a_phase_that_is_half_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = exported("mosquitto", tmp_path / "old", PAIRS, logins=LOGINS)
    plan_rollout(old, changed(old, swapped(PAIRS, 2, 1)), out=tmp_path / "new")
    (tmp_path / "new/phase2/n01.acl").unlink()
    assert execute(["run", "mosquitto", str(old), "--rollout", str(tmp_path / "new")]) == 2
    assert "phase2/manifest.json: file 'n01.acl' is not in the folder" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "new/phase2")
    assert execute(["run", "mosquitto", str(old), "--rollout", str(tmp_path / "new")]) == 2
    assert "phase2 is not an export" in capsys.readouterr().err


def test_a_word_of_a_message_is_not_as_long_as_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = exported("mosquitto", tmp_path / "old", PAIRS)
    edit(old / "manifest.json", lambda mesh: mesh["nodes"][0].update(host="x" * 100_000))
    assert execute(["run", "mosquitto", str(old)]) == 2
    told = capsys.readouterr().err
    assert "is damaged: nodes: 'n00' has host" in told and len(told) < 500
