"""Roll-outs: what did not change stays, no state in between holds a loop, few brokers are touched."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from mesh.exported import export_mesh
from mesh.nasty_topics import NASTY
from topicloom.cli.main import execute
from topicloom.errors import InputError, UsageError
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.jobs.rollout import NewInterest, RolloutOptions, old_edges, plan_rollout
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.rollout.new_mesh import files_by_node, stems_of
from topicloom.mesh.rollout.phases import middle
from topicloom.mesh.rollout.states import check_rollout, links_of, loops_in, states_along
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.model.interest import Interest

KINDS = ("mosquitto", "nats", "zenoh")


def sites(seed: int, nodes: int = 12, topics: int = 9) -> set[tuple[str, str]]:
    draw = random.Random(seed)
    return {(f"n{n:02}", f"t{t}") for n in range(nodes) for t in range(topics) if draw.random() < 0.45}


def exported(kind: str, folder: Path, pairs: set[tuple[str, str]], **options: object) -> Path:
    from topicloom.mesh.kinds.registry import KINDS as ALL
    from topicloom.mesh.plan.request import Request

    interest = Interest.from_pairs(sorted(pairs))
    folder.mkdir(parents=True)
    overlay = run_builder("gm", interest).overlay
    ALL[kind].write(Request(interest, overlay, backups=int(kind != "zenoh"), **options), folder)  # type: ignore[arg-type]
    return folder


def changed(folder: Path, pairs: set[tuple[str, str]]) -> NewInterest:
    interest = Interest.from_pairs(sorted(pairs))
    return NewInterest(interest, run_builder("balanced", interest, start=old_edges(folder, interest)).overlay)


def swapped(pairs: set[tuple[str, str]], count: int, seed: int) -> set[tuple[str, str]]:
    draw = random.Random(seed)
    every = {(n, t) for n in {n for n, _ in pairs} for t in {t for _, t in pairs}}
    gone = set(draw.sample(sorted(pairs), count))
    return (pairs - gone) | set(draw.sample(sorted(every - pairs), count))


def naive_loop(links: list[MeshLink]) -> bool:
    """Is there a topic, or account, with a cycle, for some choice of the ends of links? All are tried."""
    units: dict[str, list[MeshLink]] = {}
    for link in links:
        for unit in (link.account,) if link.account else link.topics:
            units.setdefault(str(unit), []).append(link)
    return any(_cyclic(own, {}) for own in units.values())


def _cyclic(links: list[MeshLink], joined: dict[str, str]) -> bool:
    if not links:
        return False
    link, *rest = links

    def top(node: str) -> str:
        while node in joined:
            node = joined[node]
        return node

    for end in (link.acceptor, *link.backups):
        one, other = top(link.dialer), top(end)
        if one == other or _cyclic(rest, {**joined, one: other}):
            return True
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_one_more_subscription_touches_few_brokers(kind: str, tmp_path: Path) -> None:
    """It rewrote every file, and moved most topics of NATS to other accounts."""
    pairs = sites(1)
    old = exported(kind, tmp_path / "old", pairs)
    more = ("n03", next(t for t in ("t0", "t1", "t2", "t3") if ("n03", t) not in pairs))
    summary = plan_rollout(old, changed(old, pairs | {more}), out=tmp_path / "change")
    assert sum(map(len, summary.brokers_touched.values())) <= 4
    before, after = read_mesh(old), read_mesh(tmp_path / "change/phase2")
    accounts = {topic.topic: topic.account for topic in before.topics}
    moved = [topic.topic for topic in after.topics if topic.account != accounts[topic.topic]]
    assert set(moved) <= {more[1]}
    written = json.loads((tmp_path / "change/rollout.json").read_text())
    assert written["brokers_touched"] == summary.brokers_touched
    touched = {node for own in summary.brokers_touched.values() for node in own}
    files = [files_by_node(folder, stems_of(before)) for folder in (old, tmp_path / "change/phase2")]
    assert {node for node in files[0] if files[0][node] != files[1][node]} == touched


@pytest.mark.parametrize("seed", [1, 11, 25, 35])
def test_a_topic_that_no_longer_fits_its_account_does_not_change_all_its_brokers(
    seed: int, tmp_path: Path
) -> None:
    """It moved to another account with all its subscribers; a smaller topic in its way may move instead."""
    draw = random.Random(seed)
    sizes = [draw.sample(range(20), draw.choice([2, 2, 3, 10])) for _ in range(16)]
    pairs = {(f"n{node:02}", f"t{topic:02}") for topic, nodes in enumerate(sizes) for node in nodes}
    old = exported("nats", tmp_path / "old", pairs)
    more = random.Random(seed).choice(sorted({(n, t) for n, _ in pairs for _, t in pairs} - pairs))
    options = RolloutOptions(free=True)
    summary = plan_rollout(old, changed(old, pairs | {more}), out=tmp_path / "change", options=options)
    assert sum(map(len, summary.brokers_touched.values())) <= 3


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_states_of_a_plain_replacement_loop_and_those_of_a_rollout_do_not(kind: str, tmp_path: Path) -> None:
    """By our own audit of the files: each broker has the old file or the new one."""
    pairs = sites(2)
    after = swapped(pairs, 8, 3)
    old = exported(kind, tmp_path / "old", pairs)
    plan_rollout(old, changed(old, after), out=tmp_path / "change")
    plain = exported(kind, tmp_path / "plain", after)
    phases = [tmp_path / "change/phase1", tmp_path / "change/phase2"]
    draw = random.Random(4)
    assert any(mixed_loops(kind, old, plain, draw, tmp_path / f"mix{turn}") for turn in range(6)), "no case"
    for number, (one, other) in enumerate([(old, phases[0]), (phases[0], phases[1])]):
        for turn in range(4):
            assert not mixed_loops(kind, one, other, draw, tmp_path / f"state{number}{turn}")
    assert audit_folder(kind, phases[1]).sound


def mixed_loops(kind: str, one: Path, other: Path, draw: random.Random, out: Path) -> int:
    """Loops that the audit finds where each broker has the file of one folder or of the other."""
    out.mkdir()
    for path in sorted(one.glob("*.conf")):
        beside = other / path.name
        shutil.copy(beside if beside.exists() and draw.random() < 0.5 else path, out)
    return len(audit_folder(kind, out).loops)


@examples(40)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 8),
    kind=st.sampled_from(KINDS),
    drop=st.integers(0, 3),
    free=st.booleans(),
)
def test_no_state_in_any_order_holds_a_loop(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, kind: str, drop: int, free: bool
) -> None:
    """Judged by trying all choices of backups in random states; the checker must agree."""
    tmp_path = tmp_path_factory.mktemp("rollout")
    pairs = sites(seed, 8, 6)
    if len({n for n, _ in pairs}) < 4 or len(pairs) < 12:
        return
    after = swapped(pairs, min(count, len(pairs) // 3), seed)
    old = exported(kind, tmp_path / "old", pairs)
    options = RolloutOptions(drop_up_to=drop, free=free)
    summary = plan_rollout(old, changed(old, after), out=tmp_path / "change", options=options)
    assert summary.loops == 0
    meshes = [read_mesh(folder) for folder in (old, tmp_path / "change/phase1", tmp_path / "change/phase2")]
    draw = random.Random(seed)
    for one, other in pairwise(meshes):
        nodes = [node.name for node in one.nodes]
        for _ in range(4):
            order = draw.sample(nodes, len(nodes))
            for steps in states_along(one, other, order[: draw.randint(0, len(nodes))]):
                links = links_of(steps)
                assert loops_in(links) == [] and not naive_loop(links)


def test_the_checker_rejects_a_loop() -> None:
    def link(dialer: str, acceptor: str, *backups: str) -> MeshLink:
        return MeshLink(f"{dialer}~{acceptor}", dialer, acceptor, ("x",), None, backups)

    ring = [link("b", "a"), link("c", "b"), link("c", "a")]
    assert loops_in(ring) and naive_loop(ring)
    assert loops_in(ring[:2]) == []
    moving = [link("b", "a"), link("c", "a", "b"), link("a", "d", "c")]
    assert loops_in(moving) and naive_loop(moving), "a may turn to c while c is at a"
    one, other = (Mesh("mosquitto", (), tuple(own), (), ()) for own in (ring[:2], ring[2:]))
    assert loops_in([*one.links, *other.links])


def test_what_both_have_is_what_closes_no_loop() -> None:
    def mesh(*ends: str) -> Mesh:
        links = tuple(MeshLink(f"{a}~{b}", a, b, ("x",)) for a, b in ends)
        return Mesh("mosquitto", (), links, (), ())

    assert middle(mesh("ba", "cb"), mesh("ba", "cb", "da")).links == mesh("ba", "cb").links
    assert {link.name for link in middle(mesh("ba", "bc"), mesh("ba", "ca")).links} == {"b~a"}
    turned = middle(mesh("ba", "cb"), mesh("ba", "ca"))
    assert {link.name for link in turned.links} == {"b~a", "c~b"}, "c drops one and dials the other at once"
    assert middle(mesh("ba"), mesh("ab")).links == (), "dialled by both ends it would carry all twice"


def test_only_what_would_close_a_loop_goes_in_the_first_phase() -> None:
    """c turns from a to q, and q might turn to c: q's backup goes before that, and nothing else."""

    nodes = tuple(MeshNode(node, "127.0.0.1", {}, ()) for node in "abcpq")

    def mesh(*links: MeshLink) -> Mesh:
        return Mesh("mosquitto", nodes, links, (), ())

    def link(one: str, other: str, *backups: str) -> MeshLink:
        return MeshLink(f"{one}~{other}", one, other, ("x",), backups=backups)

    old = mesh(link("b", "a"), link("c", "a"), link("p", "a", "b"), link("q", "a", "c"))
    new = mesh(link("b", "a"), link("c", "q"), link("p", "a"), link("q", "a"))
    between = middle(old, new)
    assert between.links == (*old.links[:3], link("q", "a"))
    assert not check_rollout((old, between, new), (["q"], ["p", "c"]))[1]
    assert check_rollout((old, old, new), ([], ["c", "q"]))[1], "that would be too much"


def test_a_broker_of_the_first_phase_has_its_last_file_at_once() -> None:
    """b must let a and c go before a dials c; what it dials besides needs no second restart."""
    old = Mesh(
        "mosquitto",
        tuple(MeshNode(node, "127.0.0.1", {}, ()) for node in "abcd"),
        (MeshLink("b~a", "b", "a", ("t",)), MeshLink("b~c", "b", "c", ("t",))),
        (MeshTopic("s", "s", ("c", "d")), MeshTopic("t", "t", ("a", "b", "c"))),
        tuple("abcd"),
    )
    last = MeshLink("b~d", "b", "d", ("s",))
    new = replace(
        old,
        links=(MeshLink("a~c", "a", "c", ("t",)), last),
        topics=(MeshTopic("s", "s", ("b", "c", "d")), MeshTopic("t", "t", ("a", "c"))),
    )
    between = middle(old, new)
    assert between.links == (last,)
    assert [set(topic.subscribers) for topic in between.topics] == [set("bcd"), set("abc")]
    assert not check_rollout((old, between, new), ("b", "a"))[1]
    guarded = replace(old, nodes=tuple(replace(node, user="u") for node in old.nodes))
    assert middle(guarded, new).links == (), "d does not know b yet"
    # Where b itself would close a loop while the others have their old files, it waits.
    waits = replace(
        old, links=(*old.links, MeshLink("c~d", "c", "d", ("s",)), MeshLink("d~a", "d", "a", ("s",)))
    )
    waits = replace(waits, topics=(MeshTopic("s", "s", tuple("abcd")), old.topics[1]))
    then = replace(
        waits,
        links=(new.links[0], MeshLink("b~c", "b", "c", ("s",)), MeshLink("b~a", "b", "a", ("s",)), last),
        topics=(MeshTopic("s", "s", tuple("abcd")), new.topics[1]),
    )
    assert {link.topics for link in middle(waits, then).links if link.dialer == "b"} <= {("t",)}


def test_a_rollout_can_be_rolled_back(tmp_path: Path) -> None:
    """The way back is a roll-out to the old mesh as it was, byte for byte."""
    pairs = sites(5)
    old = exported("mosquitto", tmp_path / "old", pairs)
    plan_rollout(old, changed(old, swapped(pairs, 4, 1)), out=tmp_path / "change")
    plan_rollout(tmp_path / "change/phase2", old, out=tmp_path / "back")
    for path in old.iterdir():
        assert (tmp_path / "back/phase2" / path.name).read_bytes() == path.read_bytes()
    states, loops = check_rollout(
        [read_mesh(tmp_path / one) for one in ("change/phase2", "back/phase1", "back/phase2")],
        [[node.name for node in read_mesh(old).nodes]] * 2,
    )
    assert states > 100 and not loops


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_brokers_take_can_be_rolled_out(kind: str, tmp_path: Path) -> None:
    nodes = ["Zürich HQ", "zürich hq", "..", "-rf", 'o\'neil "q"', "site#1", "a\tb", "x~y"]
    pairs = {(node, topic) for topic in filter(None, NASTY) for node in nodes[:4]}
    old = exported(kind, tmp_path / "old", pairs)
    more = pairs | {(node, topic) for topic in NASTY[:2] for node in nodes[4:]}
    summary = plan_rollout(
        old, changed(old, more), out=tmp_path / "change", options=RolloutOptions(literal=True)
    )
    assert summary.loops == 0 and summary.brokers_added == sorted(nodes[4:])
    assert {topic.topic for topic in read_mesh(tmp_path / "change" / "phase2").topics} >= {'quote"x', '""'}


def test_nodes_that_come_and_go(tmp_path: Path) -> None:
    pairs = sites(6)
    logins = {node: Login(node, f"p{node}") for node in {n for n, _ in pairs}}
    old = exported("mosquitto", tmp_path / "old", pairs, logins=logins)
    after = {(n, t) for n, t in pairs if n != "n04"} | {("new", "t0"), ("new", "t1")}
    summary = plan_rollout(old, changed(old, after), out=tmp_path / "change")
    assert (summary.brokers_added, summary.brokers_removed) == (["new"], ["n04"])
    assert "new" in summary.brokers_touched["phase2"]
    mesh = read_mesh(tmp_path / "change/phase2")
    ports = [port for node in mesh.nodes for port in node.ports.values()]
    assert len(set(ports)) == len(ports)
    assert (tmp_path / "change/phase2/secrets.json").stat().st_mode & 0o077 == 0


def test_brokers_whose_access_lists_alone_change_need_no_restart(tmp_path: Path) -> None:
    pairs = sites(1)
    logins = {node: Login(node, f"p{node}") for node in {n for n, _ in pairs}}
    old = exported("mosquitto", tmp_path / "old", pairs, logins=logins)
    summary = plan_rollout(old, changed(old, swapped(pairs, 4, 2)), out=tmp_path / "change")
    folders = [old, tmp_path / "change/phase1", tmp_path / "change/phase2"]
    assert any(summary.brokers_reloaded.values())
    for (before, after), phase in zip(pairwise(folders), summary.brokers_touched, strict=True):
        touched, light = summary.brokers_touched[phase], summary.brokers_reloaded[phase]
        assert [node for node in touched if node in light] == light
        same = {
            n for n in touched if (before / f"{n}.conf").read_bytes() == (after / f"{n}.conf").read_bytes()
        }
        assert same == set(light)


def test_refusals(tmp_path: Path) -> None:
    pairs = sites(7)
    old = exported("mosquitto", tmp_path / "old", pairs)
    other = exported("nats", tmp_path / "nats", pairs)
    with pytest.raises(InputError, match="mesh of kind nats, not mosquitto"):
        plan_rollout(old, other, out=tmp_path / "change")
    with pytest.raises(UsageError, match="`drop_up_to=-1`"):
        plan_rollout(old, other, out=tmp_path / "change", options=RolloutOptions(drop_up_to=-1))
    strange = tmp_path / "strange"
    shutil.copytree(old, strange)
    manifest = strange / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"kind": "mosquitto"', '"kind": "foo"'))
    with pytest.raises(UsageError, match="cannot roll out foo; kinds that can be are"):
        plan_rollout(strange, other, out=tmp_path / "change")
    alone = {*pairs, ("far", "t0"), ("far", "t1")}
    interest = Interest.from_pairs(sorted(alone))
    with pytest.raises(InputError, match="'far'"):
        plan_rollout(old, NewInterest(interest, old_edges(old, interest)), out=tmp_path / "change")
    conf = old / "n01.conf"
    conf.write_text(conf.read_text() + "# mine\n")
    with pytest.raises(InputError, match=r"n01.conf changed since it was exported"):
        plan_rollout(old, changed(old, pairs), out=tmp_path / "change")
    assert not (tmp_path / "change").exists()


def test_links_may_be_let_go(tmp_path: Path) -> None:
    wanted = {"x": "abcd", "y": "abcd"}
    export_mesh("mosquitto", tmp_path / "old", wanted, ["ab", "bc", "cd", "ad", "ac"])
    old = tmp_path / "old"
    interest = Interest.from_pairs([(n, t) for t, nodes in wanted.items() for n in nodes])
    ring = old_edges(old, interest)
    edges = list(combinations(range(4), 2))
    full = type(ring).from_edges(interest.node_ids, [a for a, _ in edges], [b for _, b in edges])
    kept = plan_rollout(old, NewInterest(interest, full), out=tmp_path / "same")
    assert kept.links_dropped == [] and kept.brokers_touched == {"phase1": [], "phase2": []}
    let_go = plan_rollout(
        old, NewInterest(interest, full), out=tmp_path / "less", options=RolloutOptions(drop_up_to=1)
    )
    assert len(let_go.links_dropped) == 1 and let_go.loops == 0


def test_a_new_table_is_read_as_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Messages named `--encoding` and `--format`, which the command did not have."""
    pairs = {("Küche", "x"), ("Bad", "x"), ("Flur", "x"), ("Flur", "y"), ("Bad", "y")}
    old = exported("mosquitto", tmp_path / "old", pairs)
    rows = "".join(f"{node};{topic}\n" for node, topic in sorted(pairs | {("Küche", "y")}))
    (tmp_path / "new.txt").write_bytes(f"node;topic\n{rows}".encode("latin-1"))
    words = ["mesh", "rollout", old, tmp_path / "new.txt", "--engine", "local", "--out", tmp_path / "change"]
    command = [str(word) for word in words]
    for more, told in (
        ([], "--format"),
        (["--format", "csv"], "--separator ';'"),
        (["--format", "csv", "--separator", ";", "--strict"], "not valid UTF-8"),
    ):
        assert execute([*command, *more]) == 2
        assert told in capsys.readouterr().err
    assert execute([*command, "--format", "csv", "--separator", ";", "--encoding", "latin-1"]) == 0
    capsys.readouterr()
    assert (tmp_path / "change/phase2").is_dir()


def with_hosts(folder: Path, hosts: dict[str, str]) -> Path:
    rows = "".join(f"{node},{host}\n" for node, host in hosts.items())
    (folder / "hosts.csv").write_text(f"node,host\n{rows}")
    return folder / "hosts.csv"


def test_a_new_broker_elsewhere_does_not_open_a_mesh_of_one_machine(tmp_path: Path) -> None:
    """It listened on all addresses of its machine and let everybody in."""
    pairs = sites(7)
    old = exported("mosquitto", tmp_path / "old", pairs)
    target = changed(old, pairs | {("new", "t0"), ("new", "t1")})
    hosts = with_hosts(tmp_path, {"new": "10.0.0.9"})
    with pytest.raises(InputError, match=r"hosts.csv line 2: 'new' would be on 10.0.0.9.*`open`"):
        plan_rollout(old, target, out=tmp_path / "change", options=RolloutOptions(hosts=hosts))
    plan_rollout(old, target, out=tmp_path / "change", options=RolloutOptions(hosts=hosts, open_=True))
    assert "listener 1883\n" in (tmp_path / "change/phase2/new.conf").read_text()
    logins = {node: Login(node, f"p{node}") for node in {n for n, _ in pairs}}
    closed = exported("mosquitto", tmp_path / "closed", pairs, logins=logins)
    with pytest.raises(UsageError, match="`open` does not take the logins"):
        plan_rollout(closed, target, out=tmp_path / "more", options=RolloutOptions(open_=True))
    plan_rollout(closed, target, out=tmp_path / "more", options=RolloutOptions(hosts=hosts))
    assert "allow_anonymous true" not in (tmp_path / "more/phase2/new.conf").read_text()


def test_hosts_and_logins_are_asked_for_new_nodes_only(tmp_path: Path) -> None:
    """All nodes had to be named, also those whose hosts are known."""
    pairs = sites(7)
    nodes = sorted({n for n, _ in pairs})
    places = {node: Place(f"{node}.example") for node in nodes}
    logins = {node: Login(node, f"p{node}") for node in nodes}
    old = exported("mosquitto", tmp_path / "old", pairs, places=places, logins=logins)
    target = changed(old, pairs | {("new", "t0"), ("other", "t0"), ("new", "t1")})
    options = RolloutOptions(hosts=with_hosts(tmp_path, {"new": "new.example"}))
    with pytest.raises(InputError, match="no host for node 'other'"):
        plan_rollout(old, target, out=tmp_path / "change", options=options)
    with_hosts(tmp_path, {"new": "new.example", "other": "other.example"})
    logins_file = tmp_path / "logins.csv"
    logins_file.write_text("node,user,password\nnew,me,one\nother,you,two\n")
    options = RolloutOptions(hosts=options.hosts, credentials=logins_file)
    plan_rollout(old, target, out=tmp_path / "change", options=options)
    hosts = {node.name: (node.host, node.user) for node in read_mesh(tmp_path / "change/phase2").nodes}
    assert hosts["new"] == ("new.example", "me") and hosts["n01"] == ("n01.example", "n01")


@pytest.mark.parametrize("choice", ["filters", "literal"])
def test_what_topics_with_wildcards_are_is_kept_and_not_guessed(choice: str, tmp_path: Path) -> None:
    pairs = sites(7)
    old = exported("mosquitto", tmp_path / "old", pairs)
    wild = changed(old, pairs | {("n01", "alarm/#"), ("n02", "alarm/#")})
    with pytest.raises(UsageError, match=r"'alarm/#' has a wildcard: give `filters`"):
        plan_rollout(old, wild, out=tmp_path / "one")
    given = RolloutOptions(**{choice: True})  # type: ignore[arg-type]
    plan_rollout(old, wild, out=tmp_path / "one", options=given)
    one = tmp_path / "one/phase2"
    name = {topic.topic: topic.name for topic in read_mesh(one).topics}["alarm/#"]
    assert name == ("alarm/#" if choice == "filters" else "alarm/%23")
    assert read_mesh(one).options["wildcards"] == choice
    more = changed(one, pairs | {("n01", "alarm/#"), ("n02", "alarm/#"), ("n03", "alarm/#")})
    plan_rollout(one, more, out=tmp_path / "two")
    other = RolloutOptions(filters=choice == "literal", literal=choice == "filters")
    with pytest.raises(UsageError, match=f"was exported with `{choice}`"):
        plan_rollout(one, more, out=tmp_path / "three", options=other)
    with pytest.raises(UsageError, match="contradict"):
        both = RolloutOptions(filters=True, literal=True)
        plan_rollout(old, wild, out=tmp_path / "three", options=both)
    with pytest.raises(UsageError, match="is a mesh already"):
        plan_rollout(one, old, out=tmp_path / "three", options=given)


def test_a_rollout_in_use_or_edited_is_not_replaced(tmp_path: Path) -> None:
    """An edited file of phase 2 was gone, and so was the old mesh itself if it lay in the output."""
    pairs = sites(7)
    old, out = exported("mosquitto", tmp_path / "old", pairs), tmp_path / "change"
    target = changed(old, swapped(pairs, 3, 1))
    plan_rollout(old, target, out=out)
    plan_rollout(old, target, out=out)
    for used, new in ((out / "phase2", target), (old, out / "phase2")):
        with pytest.raises(InputError, match=r"phase2 lies in `out=.*`overwrite`"):
            plan_rollout(used, new, out=out)
    again = RolloutOptions(overwrite=True)
    plan_rollout(out / "phase2", changed(out / "phase2", pairs), out=out, options=again)
    for edited in ("n01.conf", "manifest.json"):
        path = out / "phase2" / edited
        path.write_text(path.read_text().replace("127.0.0.1", "127.0.0.2"))
        with pytest.raises(InputError, match=f"phase2/{edited} changed since it was planned"):
            plan_rollout(old, target, out=out)
        plan_rollout(old, target, out=out, options=again)
    (out / "mine.txt").write_text("notes")
    with pytest.raises(InputError, match="something else than an earlier roll-out"):
        plan_rollout(old, target, out=out, options=again)
