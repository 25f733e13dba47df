"""The lower bound of roll-outs holds against our own plans, and sees what must change."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.rollout_bound import fewest_changed, fewest_restarted

from mesh.exported import export_mesh
from mesh.rollout.test_rollout import changed, exported, sites, swapped
from topicloom.mesh.jobs.rollout import RolloutOptions, plan_rollout
from topicloom.mesh.model.manifest import read_mesh


def by_topic(pairs: set[tuple[str, str]]) -> dict[str, set[str]]:
    return {topic: {node for node, own in pairs if own == topic} for topic in {topic for _, topic in pairs}}


@pytest.mark.parametrize("seed", range(6))
def test_no_plan_touches_fewer(seed: int, tmp_path: Path) -> None:
    pairs = sites(seed)
    old = exported("nats", tmp_path / "old", pairs)
    mesh = read_mesh(old)
    assert fewest_changed(mesh, by_topic(pairs)) == 0, "nothing changes"
    after = swapped(pairs, 5, seed)
    summary = plan_rollout(old, changed(old, after), out=tmp_path / "new", options=RolloutOptions(free=True))
    touched = {node for own in summary.brokers_touched.values() for node in own}
    bounds = [fewest_changed(mesh, by_topic(after), backups=backups) for backups in (False, True)]
    assert 0 < bounds[0] <= bounds[1] <= len(touched)


@pytest.mark.parametrize("seed", range(4))
def test_no_plan_restarts_fewer_brokers(seed: int, tmp_path: Path) -> None:
    pairs = sites(seed)
    old = exported("mosquitto", tmp_path / "old", pairs)
    mesh = read_mesh(old)
    assert fewest_restarted(mesh, by_topic(pairs)) == 0, "nothing changes"
    after = swapped(pairs, 5, seed)
    summary = plan_rollout(old, changed(old, after), out=tmp_path / "new", options=RolloutOptions(free=True))
    touched = {node for own in summary.brokers_touched.values() for node in own}
    bounds = [fewest_restarted(mesh, by_topic(after), backups=backups) for backups in (False, True)]
    assert 0 < bounds[0] <= bounds[1] <= len(touched)


def test_what_must_restart_is_seen(tmp_path: Path) -> None:
    """A path a b c d of Mosquitto brokers: who dials decides."""
    mesh = export_mesh(
        "mosquitto", tmp_path / "mesh", {"x": "abcd", "y": "bc"}, ["ab", "bc", "cd"], backups=0
    )
    dials = {frozenset((link.dialer, link.acceptor)): link.dialer for link in mesh.links}
    leaving = {dials[frozenset("ab")]}
    assert fewest_restarted(mesh, {"x": set("bcd"), "y": set("bc")}) == len(leaving | {"a"}), "a goes"
    left = {dials[frozenset("ab")], dials[frozenset("bc")]}
    least = fewest_restarted(mesh, {"x": set("acd"), "y": set("bc")})
    assert least == len(left) + (not left & set("acd"))
    assert fewest_restarted(mesh, {"x": set("abcd"), "y": set("bcd")}) == 1, "y stands in somebody's file"
    assert fewest_restarted(mesh, {"x": set("abcdef"), "y": set("bc")}) == 2, "two new ones"


def test_what_must_change_is_seen(tmp_path: Path) -> None:
    """A path a b c d: the middle of it leaves, somebody who is new comes."""
    mesh = export_mesh("nats", tmp_path / "mesh", {"x": "abcd", "y": "bc"}, ["ab", "bc", "cd"], backups=0)
    assert fewest_changed(mesh, {"x": set("acd"), "y": set("bc")}) == 1
    assert fewest_changed(mesh, {"x": set("abc"), "y": set("bc")}) == 0, "its link may stay for nothing"
    assert fewest_changed(mesh, {"x": set("abcd"), "y": set("bcd")}) == 0, "the link is there"
    assert fewest_changed(mesh, {"x": set("abcdef"), "y": set("bc")}) == 2, "two new ones"
