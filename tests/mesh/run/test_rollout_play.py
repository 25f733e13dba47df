"""Roll-outs on real brokers with traffic: nothing twice, nothing lost but what the plan says."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from brokers_present import needs_mosquitto, needs_nats, needs_zenoh
from hand_mesh import HandLink, write_hand_mesh
from mesh.exported import export_mesh
from topicloom.errors import InputError, MeshError, UsageError
from topicloom.mesh.jobs.rollout import NewInterest, plan_rollout
from topicloom.mesh.jobs.run import run_rollout
from topicloom.mesh.kinds.registry import find_running, load_adapter
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.rollout_play import RolloutPlan, play_rollout
from topicloom.mesh.run.running_mesh import RunSettings
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

LOGINS = {node: Login(f"user-{node}", f"password-{node}") for node in "abcdf"}
QUICK = RunSettings(settle=0.2, quiet=1.5)
EDGES = [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)]


@pytest.mark.parametrize(
    ("kind", "logins", "turn_back"),
    [
        pytest.param("mosquitto", {}, True, marks=needs_mosquitto),
        pytest.param("mosquitto", LOGINS, False, marks=needs_mosquitto),
        pytest.param("nats", LOGINS, False, marks=needs_nats),
        pytest.param("zenoh", LOGINS, False, marks=needs_zenoh),
    ],
)
def test_a_rollout_is_as_planned(
    kind: str, logins: dict[str, Login], turn_back: bool, tmp_path: Path
) -> None:
    """b leaves the middle of x, d comes to it; a new node e comes to y, f goes; z stays.

    One stopped half-way returns to the old mesh by the same files.
    """
    old = tmp_path / "old"
    wanted = {"x": "abc", "y": "abcdf", "z": "ac"}
    export_mesh(kind, old, wanted, ["ab", "bc", "cd", "ad", "ac", "df"], logins=logins)
    interest = Interest.from_pairs(
        [(n, t) for t, nodes in {"x": "acd", "y": "abcde", "z": "ac"}.items() for n in nodes]
    )
    overlay = Overlay.from_edges(interest.node_ids, *zip(*[*EDGES, (0, 2), (3, 4)], strict=True))
    plan_rollout(old, NewInterest(interest, overlay), out=tmp_path / "change")
    played = run_rollout(kind, old, tmp_path / "change", QUICK, turn_back=turn_back)
    assert played.exact, played
    assert played.nodes == 5 and played.states >= 2 and played.published > 5
    assert played.turned_back is turn_back


@needs_mosquitto
def test_a_plan_that_loops_is_not_called_exact(tmp_path: Path) -> None:
    """The link a - c comes before b - c is gone: what the documents used to say."""
    wants = dict.fromkeys("abc", ("x",))
    write_hand_mesh(tmp_path / "old", wants, [HandLink("b", "a", ("x",)), HandLink("c", "b", ("x",))])
    write_hand_mesh(tmp_path / "new", wants, [HandLink("b", "a", ("x",)), HandLink("a", "c", ("x",))])
    plan = RolloutPlan((tmp_path / "old", tmp_path / "new"), (("a", "c"),), frozenset("x"))
    duplicates = 1
    with suppress(MeshError):  # a storm, if it is quick enough
        played = play_rollout(load_adapter("mosquitto"), plan, find_running("mosquitto").relocate, QUICK)
        assert not played.exact
        duplicates = played.duplicates
    assert duplicates > 0


@needs_mosquitto
def test_what_cannot_be_played_is_refused(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "old", {"x": "ab"}, ["ab"])
    with pytest.raises(InputError, match=r"no roll-out: cannot read rollout.json"):
        run_rollout("mosquitto", tmp_path / "old", tmp_path, QUICK)
    with pytest.raises(UsageError, match="`rollout` and `kill`"):
        run_rollout("mosquitto", tmp_path / "old", tmp_path, RunSettings(kill=("a",)))
