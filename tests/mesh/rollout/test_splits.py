"""Which topics a plan calls split: judged by trying all ends of links in all states of its order."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice, pairwise, product
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drawing import examples
from mesh.rollout.test_rollout import changed, exported, sites, swapped
from topicloom.mesh.jobs.rollout import NewInterest, RolloutSummary, old_edges, plan_rollout
from topicloom.mesh.kinds.registry import KINDS
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.model.search import search
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.request import Request
from topicloom.mesh.rollout.change import Groups
from topicloom.mesh.rollout.mixed_states import MixedStates
from topicloom.mesh.rollout.states import states_along
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.merge_pairs import number_small

Pairs = set[tuple[str, str]]

CHOICES = 1000  # of ends of the links of one topic: more are not tried


def meshes_of(old: Path, change: Path) -> list[Mesh]:
    return [read_mesh(folder) for folder in (old, change / "phase1", change / "phase2")]


def naive_splits(meshes: list[Mesh], summary: RolloutSummary, guarded: bool) -> set[str]:
    """Topics of which two who want it before and after are apart, for some ends that let the links in."""
    old, _, new = meshes
    later = {topic.topic: set(topic.subscribers) for topic in new.topics}
    stay = {topic.topic: later.get(topic.topic, set()) & set(topic.subscribers) for topic in old.topics}
    # In the first phase brokers let in what they did before.
    lets_in = [
        {(one.name, end): set(one.topics) for one in mesh.links for end in (one.acceptor, *one.backups)}
        for mesh in (old, old, new)
    ]
    accounts = [
        {(node, one.account) for one in mesh.topics for node in one.subscribers} for mesh in (old, old, new)
    ]
    found = set[str]()
    for (before, after), order in zip(pairwise(meshes), summary.brokers_touched.values(), strict=True):
        for state in states_along(before, after, order):
            step = {
                node: next(at for at, one in enumerate(meshes) if one is mesh) for node, mesh in state.items()
            }
            for topic, own in stay.items():
                if topic in found or topic in summary.topics_moved or len(own) < 2:
                    continue
                choices = []
                for node, mesh in state.items():
                    for link in mesh.links:
                        if link.dialer != node or topic not in link.topics:
                            continue
                        ends = [
                            (node, end)
                            for end in (link.acceptor, *link.backups)
                            if end in state
                            and (link.account is None or (end, link.account) in accounts[step[end]])
                            and (not guarded or topic in lets_in[step[end]].get((link.name, end), ()))
                        ]
                        if ends:
                            choices.append(ends)
                for chosen in islice(product(*choices), CHOICES):
                    groups = Groups({*own, *(end for ends in chosen for end in ends)})
                    for ends in chosen:
                        groups.join(*ends)
                    if len({groups.top(node) for node in own}) > 1:
                        found.add(topic)
                        break
    return found


def naive_unheard(folders: list[Path], summary: RolloutSummary) -> set[str]:
    """Topics of which a message does not get to all who hear it, for some ends that let the links in."""
    meshes = [read_mesh(folder) for folder in folders]
    states = MixedStates(meshes, folders, frozenset(summary.topics_moved))
    found = set[str]()
    for (before, after), order in zip(pairwise(meshes), summary.brokers_touched.values(), strict=True):
        for state in states_along(before, after, order):
            steps = {
                node: next(at for at, one in enumerate(meshes) if one is mesh) for node, mesh in state.items()
            }
            for topic in states.staying.keys() - found:
                choices = []
                for node, mesh in state.items():
                    for link in mesh.links:
                        if link.dialer == node and topic in link.topics:
                            ends = [
                                end
                                for end in (link.acceptor, *link.backups)
                                if states.lets_in(link, steps[node], end, steps, topic)
                            ]
                            if ends:
                                choices.append([replace(link, acceptor=end, backups=()) for end in ends])
                for chosen in islice(product(*choices), CHOICES):
                    near = states.near(chosen, steps, topic)
                    if any(
                        not states.must_hear(topic, sender) <= search(sender, near.__getitem__).keys()
                        for sender in states.staying[topic]
                    ):
                        found.add(topic)
                        break
    return found


def drawn(draw: random.Random, seed: int, count: int) -> tuple[Pairs, Pairs] | None:
    """Subscriptions before and after: some are swapped, or a node goes that links and backups lead to."""
    pairs = sites(seed, 8, 5)
    nodes = sorted({node for node, _ in pairs})
    if len(nodes) < 5 or len(pairs) < 12:
        return None
    if seed % 2:
        gone = draw.choice(nodes)
        return pairs, {(node, topic) for node, topic in pairs if node != gone}
    return pairs, swapped(pairs, min(count, len(pairs) // 3), seed)


def with_roles(draw: random.Random, before: Pairs, after: Pairs) -> tuple[Interest, Interest]:
    """Draw roles; every topic has somebody who publishes and somebody who hears it."""
    role = {pair: draw.choice(["sub", "sub", "sub", "pub", "both"]) for pair in sorted(before | after)}
    for topic in sorted({topic for _, topic in role}):
        for pairs in (before, after):
            own = sorted(pair for pair in pairs if pair[1] == topic)
            if own and all(role[pair] == "sub" for pair in own):
                role[own[0]] = "both"
            if own and all(role[pair] == "pub" for pair in own):
                role[own[-1]] = "both"

    def interest(pairs: Pairs) -> Interest:
        rows = sorted(pairs)
        columns = {
            "node": [node for node, _ in rows],
            "topic": [topic for _, topic in rows],
            "role": [role[pair] for pair in rows],
        }
        return number_small(pa.table(columns), ["role"])

    return interest(before), interest(after)


def planned(kind: str, tmp_path: Path, seed: int, count: int, guarded: bool) -> RolloutSummary | None:
    """Plan a roll-out without roles from `old` to `change`."""
    if (own := drawn(random.Random(seed), seed, count)) is None:
        return None
    logins = {node: Login(node, f"of-{node}") for node, _ in own[0]} if guarded else {}
    old = exported(kind, tmp_path / "old", own[0], logins=logins)
    return plan_rollout(old, changed(old, own[1]), out=tmp_path / "change")


def planned_with_roles(
    kind: str, tmp_path: Path, seed: int, count: int, guarded: bool
) -> RolloutSummary | None:
    draw = random.Random(seed)
    if (own := drawn(draw, seed, count)) is None:
        return None
    before, after = with_roles(draw, *own)
    logins = {node: Login(node, f"of-{node}") for node, _ in own[0]} if guarded else {}
    old = tmp_path / "old"
    old.mkdir()
    request = Request(before, run_builder("gm", before).overlay, backups=int(kind != "zenoh"), logins=logins)
    KINDS[kind].write(request, old)
    overlay = run_builder("balanced", after, start=old_edges(old, after)).overlay
    return plan_rollout(old, NewInterest(after, overlay), out=tmp_path / "change")


@examples(40)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 6),
    kind=st.sampled_from(["mosquitto", "nats", "zenoh"]),
    guarded=st.booleans(),
)
def test_no_topic_is_split_that_the_plan_does_not_name(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, kind: str, guarded: bool
) -> None:
    """A node may also go, whose links and backups lead away from it before it is stopped."""
    tmp_path = tmp_path_factory.mktemp("splits")
    summary = planned(kind, tmp_path, seed, count, guarded)
    if summary is not None:
        meshes = meshes_of(tmp_path / "old", tmp_path / "change")
        assert naive_splits(meshes, summary, guarded) <= set(summary.topics_split)


@examples(20)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 6),
    kind=st.sampled_from(["mosquitto", "nats", "zenoh"]),
    guarded=st.booleans(),
)
@example(seed=27, count=3, kind="mosquitto", guarded=False)
@example(seed=27, count=3, kind="mosquitto", guarded=True)
def test_every_message_reaches_all_unless_the_plan_names_its_topic(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, kind: str, guarded: bool
) -> None:
    """With roles, a link at its backup may stand where the link onwards goes the other way only."""
    tmp_path = tmp_path_factory.mktemp("splits")
    summary = planned_with_roles(kind, tmp_path, seed, count, guarded)
    if summary is not None:
        folders = [tmp_path / "old", tmp_path / "change/phase1", tmp_path / "change/phase2"]
        assert naive_unheard(folders, summary) <= set(summary.topics_split)


def test_few_topics_are_called_split_that_never_are(tmp_path: Path) -> None:
    """Else naming all topics would be right, and would tell nothing."""
    named = split = 0
    for seed in range(1, 41):
        folder = tmp_path / str(seed)
        folder.mkdir()
        kind, guarded = "mosquitto", seed % 3 == 0
        plan = planned if seed % 4 < 2 else planned_with_roles
        summary = plan(kind, folder, seed, 1 + seed % 5, guarded)
        if summary is None:
            continue
        folders = [folder / "old", folder / "change/phase1", folder / "change/phase2"]
        found = naive_splits(meshes_of(folders[0], folder / "change"), summary, guarded)
        unheard = naive_unheard(folders, summary)
        named += len(summary.topics_split)
        split += len(found | unheard)
    assert 0 < split <= named <= 1.2 * split
