"""What an audit of configurations must find, and must not: against copies of messages counted one by one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from drawing import examples
from naive.bridges import MANY, all_names, copies
from topicloom.errors import InputError
from topicloom.mesh.audit.message_flow import Arc, MessageFlow
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.kinds.mosquitto.bridge_flow import matches
from topicloom.mesh.kinds.mosquitto.distinct_names import distinct_names
from topicloom.mesh.kinds.mosquitto.read import read_mosquitto

PATTERNS = ["#", "+", "a", "a/#", "+/b", "a/b", "a/+", "$s/#"]
DIAMOND = [("w", "x"), ("w", "y"), ("x", "z"), ("y", "z")]
PREFIXES = ["", "", "", "", "a/", "b/", "p"]


@st.composite
def rules(draw):
    pattern, direction = draw(st.sampled_from(PATTERNS)), draw(st.sampled_from(["out", "in", "both", "both"]))
    local, remote = draw(st.sampled_from(PREFIXES)), draw(st.sampled_from(PREFIXES))
    if pattern[0] in "+#":
        local, remote = local.replace("p", ""), remote.replace("p", "")
    return pattern, direction, local, remote


@st.composite
def meshes(draw):
    brokers = ["w", "x", "y", "z"][: draw(st.integers(2, 4))]
    ends = st.permutations(brokers).map(lambda order: order[:2])
    private = st.sampled_from([True, True, True, False])
    count = draw(st.integers(1, 4))
    return [
        (*draw(ends), draw(st.lists(rules(), min_size=1, max_size=2)), draw(private)) for _ in range(count)
    ]


def write_mesh(folder, links):
    """The links as configurations, all brokers on one machine; port numbers tell them apart."""
    names = sorted({end for link in links for end in link[:2]})
    for broker in names:
        lines = [f"listener {1000 + names.index(broker)}"]
        for number, (dialer, acceptor, its_rules, known) in enumerate(links):
            if dialer == broker:
                lines += [f"connection c{number}", f"address 127.0.0.1:{1000 + names.index(acceptor)}"]
                lines += [f"try_private {str(known).lower()}"]
                for pattern, way, local, remote in its_rules:
                    lines += [f"topic {pattern} {way} 0 {local or chr(34) * 2} {remote or chr(34) * 2}"]
        (folder / f"{broker}.conf").write_text("\n".join(lines) + "\n")
    return names


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links=meshes())
@example(links=[("x", "y", [("#", "both", "", "")], True), ("y", "x", [("a/+", "out", "", "")], True)])
@example(links=[("x", "y", [("#", "out", "", "a/")], True), ("y", "x", [("#", "out", "", "")], True)])
@example(
    links=[(*pair, [(pattern, "out", "", "")], True) for pair, pattern in zip(DIAMOND, "##b#", strict=True)]
)
def test_it_finds_repeats_exactly_where_copies_come_twice(tmp_path_factory, links):
    """Otherwise it would alarm where all is well, or call a mesh sound that floods."""
    folder = tmp_path_factory.mktemp("mesh")
    brokers = write_mesh(folder, links)
    audit = audit_folder("mosquitto", folder)
    found = [copies(links, start, name) for start in brokers for name in all_names(links, 3)]
    assert bool(audit.repeating) == any(max(got.values()) > 1 or got.total() >= MANY for got in found)
    storms = any(got.total() >= MANY for got in found)
    assert any(finding.storms for finding in audit.repeating) == storms


@st.composite
def branches(draw):
    """A hub and sites that put their topics into branches of it, each its own or one that others use too."""
    links = []
    for site in ["w", "x", "y"][: draw(st.integers(2, 3))]:
        pattern, way = (
            draw(st.sampled_from(["#", "a/#", "+"])),
            draw(st.sampled_from(["both", "both", "out"])),
        )
        local, remote = draw(st.sampled_from(["", "", "s/"])), draw(st.sampled_from([site + "/", "s/", ""]))
        more = [draw(rules())] if draw(st.booleans()) else []
        links.append((site, "hub", [(pattern, way, local, remote), *more], True))
    if draw(st.booleans()):
        links.append(("w", "x", [(draw(st.sampled_from(["#", "s/#", "a/#"])), "both", "", "")], True))
    return links


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links=branches())
def test_loops_that_prefixes_make_are_found_and_no_others(tmp_path_factory, links):
    folder = tmp_path_factory.mktemp("mesh")
    brokers = write_mesh(folder, links)
    audit = audit_folder("mosquitto", folder)
    found = [copies(links, start, name) for start in brokers for name in all_names(links, 3)]
    assert bool(audit.repeating) == any(max(got.values()) > 1 or got.total() >= MANY for got in found)
    assert any(finding.storms for finding in audit.repeating) == any(got.total() >= MANY for got in found)


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links=meshes())
def test_every_name_takes_the_way_of_one_of_the_kinds(tmp_path_factory, links):
    """A kind that is missing would leave topics unjudged."""
    folder = tmp_path_factory.mktemp("mesh")
    names = write_mesh(folder, links)
    ends = {f"c{number}": link[:2] for number, link in enumerate(links)}
    bridges = [bridge for name in names for bridge in read_mosquitto(folder / f"{name}.conf").bridges]
    patterns = {whole for bridge in bridges for rule in bridge.rules for whole in (rule.local, rule.remote)}

    def seen_by(name):
        return frozenset(pattern for pattern in patterns if matches(pattern, name))

    kinds = {seen_by(kind) for kind in distinct_names((one, *ends[one.name]) for one in bridges)}
    assert {seen_by(name) for name in all_names(links, 3)} - {frozenset()} <= kinds


arcs = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("abcd"), st.sampled_from("abcd"), st.booleans()), max_size=6
)


@examples(300)
@given(arcs)
def test_flow_is_sound_exactly_where_no_message_repeats(drawn):
    """One-way links: rings that carry nothing round are no loops, ways that meet are."""
    found = []
    for number, (_, tail, head, both) in enumerate(drawn):
        if tail != head:
            found.append(Arc(number, (tail, ""), (head, "")))
            if both:
                found.append(Arc(number, (head, ""), (tail, "")))
    flow = MessageFlow(found)
    repeats = any(flow.repeats((broker, "")) for broker in "abcd")
    assert bool(flow.doubled() or flow.loops()) == repeats


def conf(folder, name, *lines):
    path = folder / f"{name}.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def bridge(name, to, *topics):
    return [f"connection {name}", f"address {to}", *topics]


def test_two_brokers_that_bridge_each_other_storm(tmp_path):
    """The shape of mosquitto issue 3011."""
    conf(tmp_path, "one", "listener 1883 0.0.0.0", *bridge("up", "two:1883", "topic news/# both 2"))
    conf(tmp_path, "two", "listener 1883 0.0.0.0", *bridge("down", "one:1883", "topic # both 2"))
    audit = audit_folder("mosquitto", tmp_path)
    (doubled,) = audit.doubled
    assert doubled.storms and doubled.brokers == ("one", "two") and doubled.topics == ("news/#",)
    assert doubled.where == (f"{tmp_path}/one.conf:4", f"{tmp_path}/two.conf:4")
    assert not audit.loops and not audit.losing


def test_in_and_out_at_both_ends_comes_twice(tmp_path):
    """The shape of mosquitto issue 204: each machine pulls what the other pushes; nothing goes round."""
    names = ["laptop", "kitchen", "attic"]
    for name in names:
        lines = []
        for other in set(names) - {name}:
            lines += bridge(f"to-{other}", f"{other}.home", f"topic {name}/# in 0", f"topic {other}/# out 0")
        conf(tmp_path, name, *lines)
    audit = audit_folder("mosquitto", tmp_path)
    assert len(audit.doubled) == 3 and not any(finding.storms for finding in audit.doubled)
    assert not audit.loops


def test_a_ring_of_brokers_storms_though_every_bridge_is_private(tmp_path):
    """The shape of mosquitto issue 1003: each broker bridged to the next for the sake of redundancy."""
    names = ["a", "b", "c", "d"]
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        conf(tmp_path, name, *bridge("next", other, "topic # both", "try_private true"))
    (loop,) = audit_folder("mosquitto", tmp_path).loops
    assert loop.storms and sorted(loop.brokers) == names and loop.topics == ("#",)


def test_trees_per_topic_are_sound_though_all_together_are_a_ring(tmp_path):
    names = ["a", "b", "c"]
    for place, name in enumerate(names):
        topics = [f"topic t/{topic} both 1" for topic in range(3) if topic != place]
        conf(tmp_path, name, *bridge("next", names[(place + 1) % 3], *topics))
    audit = audit_folder("mosquitto", tmp_path)
    assert audit.sound and audit.topics == 3
    conf(tmp_path, "a", *bridge("next", "b", "topic t/+ both 1"))
    (loop,) = audit_folder("mosquitto", tmp_path).loops
    assert loop.topics == ("t/0",)


def test_prefixes_that_keep_directions_apart_are_sound(tmp_path):
    conf(tmp_path, "hub")
    conf(
        tmp_path,
        "site",
        *bridge("up", "hub", "topic # both 0 up/ site/up/", "topic # both 0 down/ site/down/"),
    )
    assert audit_folder("mosquitto", tmp_path).sound


def test_a_name_that_grows_each_round_is_a_loop(tmp_path):
    conf(tmp_path, "hub", *bridge("down", "site", "topic # out 0"))
    conf(tmp_path, "site", *bridge("up", "hub", 'topic # out 0 "" site/'))
    (loop,) = audit_folder("mosquitto", tmp_path).loops
    assert loop.storms and set(loop.brokers) == {"hub", "site"}


def test_a_longer_name_is_told_though_the_last_bridge_is_crossed_once(tmp_path):
    """The way that shows a name growing may end on a bridge that is no part of the round."""
    links = [
        ("x", "w", [("$s/#", "out", "", "b/"), ("b/#", "both", "", "b/")], False),
        ("w", "x", [("b/#", "both", "", "")], False),
        ("x", "w", [("b/#", "both", "b/", "$s/"), ("a/#", "in", "", "p")], True),
        ("x", "w", [("#", "both", "a/", "")], True),
    ]
    write_mesh(tmp_path, links)
    assert any(loop.storms for loop in audit_folder("mosquitto", tmp_path).loops)


@pytest.mark.parametrize("count", [1, 4, 50])
@pytest.mark.parametrize(
    ("topics", "kinds_each", "kinds_all"),
    [
        (['topic sensors/# both 1 "" s{}/'], 1, 1),
        (['topic sensors/# both 1 "" s{}/', "topic cmd/# both 1"], 1, 2),
        (['topic # both 1 "" s{}/'], 2, 1),
    ],
)
def test_a_branch_of_the_hub_for_each_site_is_sound_and_small(tmp_path, count, topics, kinds_each, kinds_all):
    """Every site's prefix before every other's would be more patterns than can be looked at."""
    conf(tmp_path, "hub", "listener 1883")
    for site in range(count):
        conf(tmp_path, f"site{site}", *bridge("up", "hub", *(topic.format(site) for topic in topics)))
    audit = audit_folder("mosquitto", tmp_path)
    assert audit.sound and audit.topics == kinds_each * count + kinds_all


def test_two_sites_in_one_branch_that_are_bridged_besides_are_a_loop(tmp_path):
    conf(tmp_path, "hub", "listener 1883")
    conf(tmp_path, "a", *bridge("up", "hub", 'topic sensors/# both 1 "" s/'))
    conf(tmp_path, "b", *bridge("up", "hub", 'topic sensors/# both 1 "" s/'))
    assert audit_folder("mosquitto", tmp_path).sound
    conf(
        tmp_path, "b", *bridge("up", "hub", 'topic sensors/# both 1 "" s/'), *bridge("n", "a", "topic # both")
    )
    (loop,) = audit_folder("mosquitto", tmp_path).loops
    assert loop.storms and set(loop.brokers) == {"a", "b", "hub"}


def test_a_chain_of_branches_is_followed_to_its_end(tmp_path):
    """Seven prefixes one before the other, and a way back that only the whole name finds."""
    for place in range(8):
        lines = bridge("up", f"b{place + 1}", f'topic # both 1 "" p{place}/') if place < 7 else []
        conf(tmp_path, f"b{place}", "listener 1883", *lines)
    assert audit_folder("mosquitto", tmp_path).sound
    whole = "/".join(f"p{place}" for place in reversed(range(7)))
    back = bridge("back", "b0", f'topic x out 1 {whole}/ ""')
    conf(tmp_path, "b7", "listener 1883", *back)
    (loop,) = audit_folder("mosquitto", tmp_path).loops
    assert loop.storms and len(loop.brokers) == 8


def test_one_sided_bridges(tmp_path):
    conf(tmp_path, "hub", "listener 1884")
    conf(tmp_path, "site", *bridge("up", "hub:1884", "topic default", "topic pulled in", "topic fine both"))
    conf(
        tmp_path,
        "far",
        *bridge("a", "nowhere.example:1883", "topic x both"),
        *bridge("b", "hub", "topic y both"),
    )
    first, second, *ways = audit_folder("mosquitto", tmp_path).one_sided
    assert "nowhere.example:1883" in first.text and first.where == (f"{tmp_path}/far.conf:2",)
    assert "hub does not listen on port 1883" in second.text
    assert {(way.topics, way.brokers) for way in ways} == {
        (("default",), ("site", "hub")),
        (("pulled",), ("hub", "site")),
    }


def test_two_bridges_with_one_client_id(tmp_path):
    conf(tmp_path, "hub")
    for name in ("x", "y"):
        conf(tmp_path, name, *bridge("up", "hub", "remote_clientid bridge", "topic # both"))
    (found,) = audit_folder("mosquitto", tmp_path).one_sided
    assert "throws the other out" in found.text and len(found.where) == 2


def test_a_topic_in_two_parts(tmp_path):
    conf(tmp_path, "a", *bridge("n", "b", "topic t/1 both", "topic t/2 both"))
    conf(tmp_path, "b")
    conf(tmp_path, "c", *bridge("n", "d", "topic t/1 both"))
    conf(tmp_path, "d")
    (parted,) = audit_folder("mosquitto", tmp_path).unconnected
    assert parted.topics == ("t/1",) and parted.brokers == ("a", "b", "c", "d")


def test_folders_as_brokers_and_hosts_that_say_who_is_who(tmp_path):
    conf(tmp_path / "brokers/hub", "mosquitto")
    conf(tmp_path / "brokers/site/conf.d", "bridge", *bridge("up", "10.0.0.9:1883", "topic # both"))
    conf(tmp_path / "brokers/site", "mosquitto", "include_dir conf.d")
    (lost,) = audit_folder("mosquitto", tmp_path / "brokers").one_sided
    assert lost.where == (f"{tmp_path}/brokers/site/conf.d/bridge.conf:2",)
    hosts = tmp_path / "hosts.csv"
    hosts.write_text("node,host\nhub,10.0.0.9\nsite,10.0.0.8\n")
    audit = audit_folder("mosquitto", tmp_path / "brokers", hosts=hosts)
    assert audit.sound and audit.brokers == 2 and audit.links == 1


PARTS = [
    {"local": ["connection next", "address {next}", "topic # both"]},
    {"listen": ["listener 1883"], "bridge": ["connection next", "address {next}", "topic # both"]},
]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("main", ["mosquitto", "broker", "etc/mosquitto/mosquitto"])
def test_sites_copied_from_debian(tmp_path, parts, main):
    """The folder is named as on the machine it was copied from, of which this one may have another."""
    for site in range(3):
        file = tmp_path / f"site{site}" / main
        conf(file.parent, file.name, "pid_file /run/mosquitto.pid", "include_dir /etc/mosquitto/conf.d")
        for name, lines in parts.items():
            text = [line.format(next=f"site{(site + 1) % 3}") for line in lines]
            conf(file.parent / "conf.d", name, *text)
        (file.parent / "conf.d/README.cfg").write_text("what this folder is for\n")
    audit = audit_folder("mosquitto", tmp_path)
    assert (audit.brokers, audit.links) == (3, 3)
    (loop,) = audit.loops
    assert loop.storms and sorted(loop.brokers) == ["site0", "site1", "site2"]
    assert all("/conf.d/" in where and where.startswith(str(tmp_path)) for where in loop.where)


def test_an_absolute_folder_within_the_one_that_is_judged_is_itself(tmp_path):
    conf(tmp_path, "hub")
    conf(tmp_path / "shared", "bridge", *bridge("up", "hub", "topic # both"))
    conf(tmp_path / "site/shared", "other", "listener 1999")
    conf(tmp_path / "site", "mosquitto", f"include_dir {tmp_path}/shared")
    audit = audit_folder("mosquitto", tmp_path)
    assert audit.links == 1
    assert audit.brokers == 3 and audit.unlinked == ("site/shared",)  # nobody includes that one


def test_a_folder_that_was_not_copied_is_asked_for(tmp_path):
    """Even where this machine has one of the same path: it is another machine's."""
    elsewhere = tmp_path / "machine/conf.d"
    conf(elsewhere, "local", *bridge("up", "hub", "topic # both"))
    conf(tmp_path / "brokers", "hub")
    conf(tmp_path / "brokers/site", "mosquitto", "", f"include_dir {elsewhere}")
    with pytest.raises(InputError, match=r"site/mosquitto.conf:2: include_dir .*copy that folder beside it"):
        audit_folder("mosquitto", tmp_path / "brokers")


def test_parts_are_told_of_names_that_stay_and_not_of_renamed_ones(tmp_path):
    for one, other in ("ab", "cd"):
        conf(tmp_path, one, *bridge("n", other, "topic t both", f'topic u both 1 "" {one}/'))
        conf(tmp_path, other)
    (parted,) = audit_folder("mosquitto", tmp_path).unconnected
    assert parted.topics == ("t",)


def test_brokers_without_a_bridge_are_told_and_are_no_fault(tmp_path):
    conf(tmp_path, "a", *bridge("n", "b", "topic t both"))
    for name in "bc":
        conf(tmp_path, name)
    audit = audit_folder("mosquitto", tmp_path)
    assert audit.sound and audit.unlinked == ("c",)


def test_an_address_that_may_be_two_brokers_is_refused(tmp_path):
    for name in "ab":
        conf(tmp_path, name, "listener 1883")
    conf(tmp_path, "c", "listener 1885", *bridge("up", "localhost", "topic # both"))
    with pytest.raises(InputError, match=r"c.conf:3: localhost:1883 may be a and b"):
        audit_folder("mosquitto", tmp_path)


def test_a_folder_without_configurations_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no configuration"):
        audit_folder("mosquitto", tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        audit_folder("nats", tmp_path / "absent")
