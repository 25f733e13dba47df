"""A broker that hangs without a word: its neighbors notice by the intervals that are written out."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokers_present import needs_mosquitto, needs_nats, needs_zenoh
from mesh.exported import export_mesh
from topicloom.errors import UsageError
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.run.freeze import NodeFreeze
from topicloom.mesh.run.running_mesh import RunSettings

SETTINGS = RunSettings(messages=2, settle=0.2, quiet=1.5, freeze=("b",))


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("mosquitto", marks=needs_mosquitto),
        pytest.param("nats", marks=needs_nats),
        pytest.param("zenoh", marks=needs_zenoh),
    ],
)
def test_a_frozen_peer_is_noticed_in_time(kind: str, tmp_path: Path) -> None:
    """With the defaults of the brokers it took 121 s (Mosquitto) and 353 s (NATS)."""
    export_mesh(kind, tmp_path / "mesh", {"x": "abc"}, ["ab", "bc"])
    summary = run_folder(kind, tmp_path / "mesh", SETTINGS)
    (frozen,) = summary.frozen
    assert (frozen.neighbors, frozen.noticed) == (2, 2), frozen
    assert frozen.seconds_max is not None and frozen.seconds_max > 1, "it was not frozen at all"
    assert summary.exact


def test_a_neighbor_that_never_notices_is_no_success() -> None:
    facts = {"node": "b", "neighbors": 2, "seconds_back": 1.0}
    assert NodeFreeze(**facts, noticed=2, seconds_max=9.0, exact_again=True).held
    assert not NodeFreeze(**facts, noticed=1, seconds_max=None, exact_again=True).held
    assert not NodeFreeze(**facts, noticed=2, seconds_max=9.0, exact_again=False).held


@needs_mosquitto
def test_a_node_that_is_not_there_cannot_be_frozen(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "ab"}, ["ab"])
    with pytest.raises(UsageError, match="`freeze=q`"):
        run_folder("mosquitto", tmp_path / "mesh", RunSettings(freeze=("q",)))
