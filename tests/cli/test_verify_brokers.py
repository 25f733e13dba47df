"""`topicloom verify --mosquitto` and `--nats` as a user runs them; no Spark without INTEREST."""

from __future__ import annotations

import json

import pytest

from topicloom.cli.main import execute

KEYS = {"kind", "brokers", "links", "topics", "loops", "unconnected", "one_sided", "doubled"}
KEYS |= {"unlinked", "sound"}


@pytest.fixture
def run(capsys):
    def running(*arguments):
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return running


@pytest.fixture
def pair(tmp_path):
    folder = tmp_path / "brokers"
    folder.mkdir()
    (folder / "hub.conf").write_text("listener 1883\n")
    (folder / "site.conf").write_text("connection up\naddress hub\ntopic t/# both 1\n")
    return folder


def test_a_sound_folder(run, pair):
    code, out, _ = run("verify", "--mosquitto", pair)
    assert code == 0 and out.startswith("sound: 2 brokers, 1 bridge, 1 pattern of topics")
    code, out, _ = run("verify", "--mosquitto", pair, "--json")
    content = json.loads(out)
    assert code == 0 and content.keys() == KEYS and content["sound"] is True


def test_findings_say_where_what_and_what_next(run, pair):
    (pair / "hub.conf").write_text("connection down\naddress site\ntopic t/1 both\n")
    (pair / "far.conf").write_text("connection up\naddress hub\ntopic s/# out\n")
    code, out, _ = run("verify", "--mosquitto", pair)
    assert code == 1
    assert "messages go round or come twice:" in out and "messages do not come where they should:" in out
    assert f"topic t/1 goes round for ever between hub and site, bridged 2 times at {pair}/hub.conf:3" in out
    assert f"topic s/# goes from far to hub and does not come back ({pair}/far.conf:3); write `both`" in out
    code, out, _ = run("verify", "--mosquitto", pair, "--json")
    (doubled,) = json.loads(out)["doubled"]
    assert code == 1 and doubled["storms"] and doubled["brokers"] == ["hub", "site"]
    assert doubled["where"] == [f"{pair}/hub.conf:3", f"{pair}/site.conf:3"]


def test_brokers_without_a_bridge_are_named(run, pair):
    """Sound is what is bridged; one that was forgotten would not be seen."""
    (pair / "site7.conf").write_text("listener 1883\n")
    code, out, _ = run("verify", "--mosquitto", pair)
    assert code == 0 and out.rstrip().endswith("; 1 broker has no bridge: site7")
    (pair / "site8.conf").write_text("listener 1883\n")
    assert "; 2 brokers have no bridge: site7 and site8" in run("verify", "--mosquitto", pair)[1]
    assert json.loads(run("verify", "--mosquitto", pair, "--json")[1])["unlinked"] == ["site7", "site8"]


def test_hosts_of_others_than_the_brokers(run, pair, tmp_path):
    hosts = tmp_path / "hosts.csv"
    (pair / "site.conf").write_text("connection up\naddress 10.0.0.1\ntopic t/# both 1\n")
    hosts.write_text("node,host\nhub,hub.example\nhub,10.0.0.1\nsite,10.0.0.2\nother,10.0.0.3\n")
    code, out, err = run("verify", "--mosquitto", pair, "--hosts", hosts)
    assert code == 0 and "build" not in err and out.startswith("sound: 2 brokers, 1 bridge")
    assert "line 5: 'other' is not among the brokers, which are called by their files: hub and site" in err
    assert err.rstrip().endswith("such rows are not used")


def test_one_way_links_may_be_meant(run, pair, tmp_path):
    (pair / "site.conf").write_text("connection up\naddress hub\ntopic t/# out 1\n")
    code, out, _ = run("verify", "--mosquitto", pair)
    assert (
        code == 1 and "write `both` if site should get what is published at hub, or give --one-way-ok" in out
    )
    assert run("verify", "--mosquitto", pair, "--one-way-ok")[0] == 0
    table = tmp_path / "table.csv"
    table.write_text("node,topic\nhub,t/1\nsite,t/1\n")
    arguments = ("verify", table, "--engine", "local", "--mosquitto", pair)
    assert run(*arguments)[0] == 1
    assert run(*arguments, "--one-way-ok")[0] == 0
    (pair / "site.conf").write_text("connection up\naddress hub\ntopic u out 1\n")
    assert run(*arguments, "--one-way-ok")[0] == 1  # nobody gets it
    table.write_text("node,topic,role\nhub,t/1,sub\nsite,t/1,pub\n")
    (pair / "site.conf").write_text("connection up\naddress hub\ntopic t/1 out 1\n")
    assert run(*arguments)[0] == 0  # by role
    (pair / "site.conf").write_text("connection up\naddress hub\ntopic t/# out 1\n")
    assert run(*arguments)[0] == 0  # the pattern stands for the topics that it matches
    table.write_text("node,topic,role\nhub,t/1,pub\nsite,t/1,sub\n")
    assert run(*arguments)[0] == 1  # the wrong way
    table.write_text("node,topic,role\nhub,t/1,sub\nsite,t/1,pub\nhub,t/2,both\nsite,t/2,both\n")
    assert run(*arguments)[0] == 1  # one of them must come back


def test_a_broker_is_found_by_any_of_its_addresses(run, pair, tmp_path):
    (pair / "hub.conf").write_text("listener 1883 10.0.0.1\nlistener 1884 192.168.0.1\n")
    hosts = tmp_path / "hosts.csv"
    hosts.write_text("node,host\nhub,hub.example\nsite,site.example\n")
    for address in ("hub.example", "10.0.0.1", "192.168.0.1:1884", "gone.example 10.0.0.1"):
        (pair / "site.conf").write_text(f"connection up\naddresses {address}\ntopic t/# both 1\n")
        assert run("verify", "--mosquitto", pair, "--hosts", hosts)[0] == 0, address
    nats = tmp_path / "nats"
    nats.mkdir()
    (nats / "hub.conf").write_text('leafnodes { listen: "10.0.0.1:7422" }\n')
    (nats / "site.conf").write_text(
        'leafnodes { remotes: [{ urls: ["nats-leaf://gone:7422", "nats-leaf://10.0.0.1:7422"] }] }\n'
    )
    assert run("verify", "--nats", nats, "--hosts", hosts)[0] == 0


def test_an_interest_is_checked_too(cli, pair, tmp_path):
    (pair / "third.conf").write_text("connection up\naddress hub\ntopic u both\n")
    table = tmp_path / "table.csv"
    table.write_text("node,topic\nhub,t/1\nsite,t/1\nthird,t/1\nthird,u\n")
    code, out, _ = cli("verify", table, "--mosquitto", pair, "--json")
    content = json.loads(out)
    assert code == 1 and content.keys() == KEYS | {"unreached", "strays"}
    assert [finding["topics"] for finding in content["unreached"]] == [["t/1"]]
    assert [(finding["brokers"], finding["topics"]) for finding in content["strays"]] == [(["hub"], ["u"])]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--mosquitto", "BROKERS", "--nats", "BROKERS"), "give one of them"),
        (("--hosts", "h.csv"), "--hosts goes with --mosquitto or --nats"),
        (("--one-way-ok",), "--one-way-ok goes with --mosquitto or --nats"),
        (("a.csv", "b.csv", "--nats", "BROKERS"), "EDGES b.csv: with --nats"),
        (("--mosquitto", "BROKERS", "--all", "split.jsonl"), "--all split.jsonl: with --mosquitto"),
        (("--nats", "BROKERS", "--all", "split.jsonl"), "--all split.jsonl: with --nats"),
        (("--hosts", "h.csv", "--all", "split.jsonl"), "--hosts goes with --mosquitto or --nats"),
        (("--nats", "absent"), "absent is no folder"),
        (("--nats", "BROKERS"), "has no value"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run, pair, arguments, said):
    (pair / "hub.conf").write_text("port:\n")
    code, out, err = run("verify", *(pair if word == "BROKERS" else word for word in arguments))
    assert code == 2 and out == "" and said in err and "Traceback" not in err and err.count("\n") == 1


def test_a_manifest_of_another_kind_is_refused(run, tmp_path):
    from mesh.export_cases import exported

    folder = exported("nats", tmp_path)
    assert run("verify", "--nats", folder)[0] == 0
    code, _, err = run("verify", "--mosquitto", folder)
    assert code == 2 and "verify it with --nats" in err


@pytest.mark.parametrize(("kind", "told"), [("mosquitto", "connection NAME"), ("nats", "leaf node remote")])
def test_a_folder_without_any_link_is_not_called_sound(run, tmp_path, kind, told):
    """Files of another program, or the wrong folder."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.conf").write_text("" if kind == "nats" else "listener 1883\n")
    code, out, err = run("verify", f"--{kind}", tmp_path)
    assert (code, out) == (2, "") and told in err and err.count("\n") == 1
