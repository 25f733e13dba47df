"""Leaf node links: what an audit must find in configurations of NATS servers, and must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from mesh.export_cases import exported
from topicloom.errors import InputError
from topicloom.mesh.jobs.audit import audit_folder


def leaf(folder, name, *remotes, head="", leafnodes="port: 7422", account="$G"):
    listed = ", ".join(
        f'{{url: "nats-leaf://{to}", account: "{account}"}}' if "{" not in to else to for to in remotes
    )
    (folder / f"{name}.conf").write_text(f"{head}\nleafnodes {{ {leafnodes}, remotes: [\n{listed}] }}\n")


def test_a_triangle_in_one_account_is_a_loop_whatever_is_denied(tmp_path):
    """The shape of nats-server issue 5117, with permissions that are no help."""
    leaf(tmp_path, "a")
    leaf(tmp_path, "b", "a")
    leaf(tmp_path, "c", "a", '{url: "nats-leaf://b:7422", deny_imports: ["x.>"], deny_exports: "y"}')
    (loop,) = audit_folder("nats", tmp_path).loops
    assert sorted(loop.brokers) == ["a", "b", "c"] and loop.storms
    assert "deny lists do not help" in loop.text and len(loop.where) == 3


def test_a_cluster_that_dials_two_hubs_is_no_loop_until_the_hubs_are_linked(tmp_path):
    """The shape of nats-server issue 6037: every server of a cluster has both remotes."""
    for name in ("s1", "s2", "s3"):
        head = f"server_name: {name}\ncluster {{ name: main, port: 6222, routes: [nats://s1:6222] }}"
        leaf(tmp_path, name, "fe1:7444", "fe2:7444", head=head)
    leaf(tmp_path, "fe1", leafnodes="port: 7444")
    leaf(tmp_path, "fe2", leafnodes="port: 7444")
    audit = audit_folder("nats", tmp_path)
    assert not audit.repeating
    (between,) = audit.losing
    assert between.brokers == ("s1+s2+s3", "fe1", "fe2")
    leaf(tmp_path, "fe2", "fe1:7444", leafnodes="port: 7444")
    (loop,) = audit_folder("nats", tmp_path).loops
    assert sorted(loop.brokers) == ["fe1", "fe2", "s1+s2+s3"]


def test_a_remote_serves_only_the_server_of_a_cluster_that_has_it(tmp_path):
    for name in ("s1", "s2"):
        head = f"server_name: {name}\ncluster {{ name: main, port: 6222, routes: [nats://s1:6222] }}"
        leaf(tmp_path, name, *(["hub"] if name == "s1" else []), head=head)
    leaf(tmp_path, "hub")
    (absent,) = audit_folder("nats", tmp_path).losing
    assert absent.brokers == ("s2", "hub") and "s1.conf" in absent.text


def test_a_server_that_dials_two_passes_nothing_between_them(tmp_path):
    """Unless it wants the topic, or one that dials it does, or one of the remotes is that of a hub."""
    from topicloom.overlay.model.interest import Interest

    for name in ("a", "c"):
        leaf(tmp_path, name)
    leaf(tmp_path, "x", "a", "c")
    leaf(tmp_path, "s", "x")
    (between,) = audit_folder("nats", tmp_path).unconnected
    assert between.brokers == ("x", "a", "c") and len(between.where) == 2
    assert "let all but one of them dial x" in between.text
    pairs = [("a", "t"), ("c", "t"), ("x", "u"), ("s", "u"), ("a", "v"), ("x", "v"), ("a", "w"), ("s", "w")]
    pairs += [("c", "v"), ("c", "w")]
    audit = audit_folder("nats", tmp_path, interest=Interest.from_pairs(pairs))
    assert [(finding.topics, finding.brokers) for finding in audit.losing] == [(("t",), ("a", "c"))]
    assert [(stray.topics, stray.brokers) for stray in audit.strays] == [(("w",), ("x",))]
    leaf(tmp_path, "x", "a", '{url: "nats-leaf://c", hub: true}')
    assert audit_folder("nats", tmp_path).sound


def test_a_link_at_both_ends_and_twice_at_one(tmp_path):
    leaf(tmp_path, "a", "b")
    leaf(tmp_path, "b", "a")
    leaf(tmp_path, "c", "a", "a")
    audit = audit_folder("nats", tmp_path)
    assert [finding.brokers for finding in audit.doubled] == [("a", "b"), ("c", "a")]
    assert not audit.loops


USERS = (
    "accounts {{ A: {{users: [{{user: {user}, password: p}}]}}, B: {{users: [{{user: b, password: p}}]}} }}"
)


def test_remotes_that_are_turned_away(tmp_path):
    leaf(tmp_path, "hub", head=USERS.format(user="a"))
    leaf(tmp_path, "x", "nobody:p@hub", head=USERS.format(user="a"), account="A")
    leaf(tmp_path, "y", "a:wrong@hub", head=USERS.format(user="a"), account="A")
    leaf(tmp_path, "z", "hub", head=USERS.format(user="a"), account="A")
    leaf(tmp_path, "v", "a:p@hub:7000", head=USERS.format(user="a"), account="A")
    leaf(tmp_path, "w", "a:p@gone", head=USERS.format(user="a"), account="A")
    found = audit_folder("nats", tmp_path).one_sided
    words = "no port 7000", "no server in the folder", "no user 'nobody'", "another password", "names no user"
    expected = ["port 7000", *words[1:]]
    assert [any(word in finding.text for finding in found) for word in expected] == [True] * 5
    assert len(found) == 5 and all(finding.where[0].endswith(".conf:3") for finding in found)


def test_rings_of_different_accounts_are_sound(tmp_path):
    """A tree in each account, the accounts together a triangle: what an export makes."""
    users = USERS.format(user="a")

    def remote(to, user, account):
        return f'{{url: "nats-leaf://{user}:p@{to}:7422", account: {account}}}'

    leaf(tmp_path, "one", head=users)
    leaf(tmp_path, "two", remote("one", "a", "A"), remote("one", "b", "B"), head=users)
    leaf(tmp_path, "six", remote("two", "a", "A"), remote("one", "b", "B"), head=users)
    audit = audit_folder("nats", tmp_path)
    assert audit.sound and (audit.links, audit.topics) == (4, 2)
    leaf(tmp_path, "six", remote("two", "a", "A"), head=users)
    (parted,) = audit_folder("nats", tmp_path).unconnected
    assert parted.topics == ("B",) and sorted(parted.brokers) == ["one", "six", "two"]


@examples(40)
@given(
    tree=st.integers(2, 7).flatmap(lambda n: st.tuples(*(st.integers(0, i) for i in range(n - 1)))),
    extra=st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
def test_trees_are_sound_and_one_link_more_is_not(tmp_path_factory, tree, extra):
    folder = tmp_path_factory.mktemp("mesh")
    names = [f"n{i}" for i in range(len(tree) + 1)]
    dials = {name: [] for name in names}
    for child, parent in enumerate(tree, 1):
        dials[names[child]].append(names[parent])
    for name in names:
        leaf(folder, name, *dials[name])
    assert audit_folder("nats", folder).sound
    one, other = (names[i % len(names)] for i in extra)
    dials[one].append(other)
    leaf(folder, one, *dials[one])
    audit = audit_folder("nats", folder)
    assert len(audit.loops) + len(audit.doubled) == 1


def test_an_interest_needs_to_know_the_accounts(tmp_path):
    from topicloom.overlay.model.interest import Interest

    interest = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "u")])
    leaf(tmp_path, "a")
    leaf(tmp_path, "c", "a")
    leaf(tmp_path, "b", "c")
    audit = audit_folder("nats", tmp_path, interest=interest)
    assert not audit.repeating + audit.losing
    assert [(stray.brokers, stray.topics) for stray in audit.strays] == [(("c",), ("t",))]
    with pytest.raises(InputError, match="has no broker 'z'"):
        audit_folder("nats", tmp_path, interest=Interest.from_pairs([("z", "t")]))


def test_an_account_in_parts_is_fine_where_each_topic_is_in_one(tmp_path):
    """A class of topics is a forest: two topics without a common subscriber need no link between them."""
    folder = exported("nats", tmp_path, {"a": {"x"}, "b": {"x"}, "c": {"y"}, "d": {"y"}})
    assert audit_folder("nats", folder).sound
    (folder / "manifest.json").unlink()
    (parted,) = audit_folder("nats", folder, hosts=_hosts(tmp_path / "hosts.csv")).unconnected
    assert parted.brokers == ("a", "b", "c", "d")


def _hosts(path):
    path.write_text("node,host\n" + "".join(f"{name},site-{name}\n" for name in "abcd"))
    return path
