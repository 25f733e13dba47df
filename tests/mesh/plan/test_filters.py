"""Topics with wildcards: filters or names, never a guess; filters that meet are refused; brokers match."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers_present import needs_mosquitto, needs_nats, needs_zenoh
from drawing import examples
from mesh.export_cases import make_build
from topicloom.errors import InputError, UsageError
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.jobs.export import ExportOptions, export_build
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.kinds.registry import KINDS
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.run.running_mesh import RunSettings
from topicloom.overlay.model.interest import Interest

WILD = {"mosquitto": "alarm/#", "nats": "alarm.>", "zenoh": "alarm/**"}
PAIRS = [(node, topic) for topic, nodes in {"alarm": "abc", "plain": "bcd"}.items() for node in nodes]


def build_of(kind: str, folder: Path) -> Path:
    pairs = [(node, WILD[kind] if topic == "alarm" else topic) for node, topic in PAIRS]
    return make_build(folder, Interest.from_pairs(pairs))


@pytest.mark.parametrize("kind", WILD)
def test_a_wildcard_is_never_guessed(kind: str, tmp_path: Path) -> None:
    """`alarm/#` silently became a topic called alarm/%23."""
    build = build_of(kind, tmp_path / "build")
    with pytest.raises(UsageError, match=r"`filters`.*`literal`"):
        export_build(kind, build, out=tmp_path / "mesh")
    with pytest.raises(UsageError, match="contradict"):
        export_build(kind, build, out=tmp_path / "mesh", options=ExportOptions(filters=True, literal=True))
    summary = export_build(kind, build, out=tmp_path / "names", options=ExportOptions(literal=True))
    assert "%" in summary.renamed[WILD[kind]]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("mosquitto", marks=needs_mosquitto),
        pytest.param("nats", marks=needs_nats),
        pytest.param("zenoh", marks=needs_zenoh),
    ],
)
def test_a_filter_carries_what_it_matches(kind: str, tmp_path: Path) -> None:
    mesh = tmp_path / "mesh"
    export_build(kind, build_of(kind, tmp_path / "build"), out=mesh, options=ExportOptions(filters=True))
    (topic,) = [one for one in read_mesh(mesh).topics if one.topic == WILD[kind]]
    assert topic.name == WILD[kind] and topic.sent_as != topic.name
    if kind != "zenoh":
        assert audit_folder(kind, mesh).sound
    summary = run_folder(kind, mesh, RunSettings(messages=3, settle=0.2))
    assert summary.exact and summary.delivered == 18
    assert len(set(topic.names_sent)) == 2, "the proof publishes on both"


@pytest.mark.parametrize(
    ("kind", "wider"),
    [
        pytest.param("mosquitto", ("topic {} ", "topic # "), marks=needs_mosquitto),
        pytest.param("mosquitto", ("topic {} ", "topic {}-2 "), marks=needs_mosquitto),
    ],
)
def test_a_link_that_carries_more_or_less_than_the_filter_is_found(
    kind: str, wider: tuple[str, str], tmp_path: Path
) -> None:
    """One name that it matches proved neither that another one comes nor that others stay away."""
    mesh = tmp_path / "mesh"
    build = make_build(tmp_path / "build", Interest.from_pairs([("a", "alarm/+"), ("b", "alarm/+")]))
    export_build(kind, build, out=mesh, options=ExportOptions(filters=True))
    assert run_folder(kind, mesh, RunSettings(messages=3, settle=0.2)).exact
    (topic,) = read_mesh(mesh).topics
    old, new = wider[0].format(topic.name), wider[1].format(topic.sent_as)
    for path in mesh.glob("*.conf"):
        path.write_text(path.read_text().replace(old, new))
    assert not run_folder(kind, mesh, RunSettings(messages=3, settle=0.2, quiet=1.0)).exact


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("mosquitto", "a/#", "a"),
        ("mosquitto", "a/+", "+/b"),
        ("nats", "a.>", "a.b.c"),
        ("zenoh", "**/x", "a/x"),
    ],
)
def test_filters_that_meet_are_refused_by_name(kind: str, one: str, other: str, tmp_path: Path) -> None:
    build = make_build(tmp_path / "build", Interest.from_pairs([("a", one), ("b", one), ("b", other)]))
    with pytest.raises(InputError) as refused:
        export_build(kind, build, out=tmp_path / "mesh", options=ExportOptions(filters=True))
    assert repr(one) in str(refused.value) and repr(other) in str(refused.value)


@examples(100)
@given(kind=st.sampled_from(sorted(WILD)), data=st.data())
def test_two_filters_meet_where_a_name_matches_both(kind: str, data: st.DataObject) -> None:
    """Against all names of up to four tokens."""
    rule = KINDS[kind].names.filters
    assert rule is not None
    token = st.sampled_from(["a", "b", rule.one])
    ends = st.sampled_from([[], [rule.rest]])
    drawn = [data.draw(st.lists(token, min_size=1, max_size=3)) + data.draw(ends) for _ in range(2)]
    names = [list(name) for size in range(1, 5) for name in product("ab", repeat=size)]
    both = any(all(_matches(rule, one, name) for one in drawn) for name in names)
    one, other = (rule.separator.join(tokens) for tokens in drawn)
    assert rule.meet(one, other) == both == rule.meet(other, one)


def _matches(rule, tokens, name):
    if not tokens:
        return not name
    if tokens[0] == rule.rest:
        least = 0 if rule.rest_none else 1
        return any(_matches(rule, tokens[1:], name[cut:]) for cut in range(least, len(name) + 1))
    return bool(name) and tokens[0] in (rule.one, name[0]) and _matches(rule, tokens[1:], name[1:])
