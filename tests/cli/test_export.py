"""`topicloom export` as a user runs it; none of it starts Spark."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from brokers_present import (
    mosquitto,
    nats_server,
    needs_mosquitto,
    needs_nats,
    needs_openssl,
    running,
    wait_for,
)
from mesh.certificates import make_certificates
from mesh.export_cases import make_build
from topicloom.cli.main import execute
from topicloom.mesh.jobs.export import exporters
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.plan.names import file_stems
from topicloom.overlay.model.build_folder import read_interest
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

BROKERS = ("mosquitto", "nats", "zenoh")
NODES = ["..", "N1", "Straße/7 #2\nlistener 1", "a b", "n1", "x" * 300]
TOPICS = {"plant/line 1": range(4), "$SYS/#x": range(2, 6), "a..b": [0, 5], "lone": [1], "all": range(6)}
PASSWORD = "secret-"
OPEN = {
    "mosquitto": "# Everybody who reaches the port may log in.",
    "nats": "# The password is the same everywhere",
    "zenoh": "// Everybody who reaches the port may log in.",
}
KEYS = {
    "kind", "nodes", "links", "accounts", "topics", "connections_per_node_max", "backups",
    "hops_max", "hops_overlay", "renamed", "remarks", "out", "files",
}  # fmt: skip


@pytest.fixture(scope="module")
def interest() -> Interest:
    return Interest.from_pairs((NODES[node], topic) for topic, nodes in TOPICS.items() for node in nodes)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory, interest: Interest) -> Path:
    return make_build(tmp_path_factory.mktemp("builds") / "build", interest)


@pytest.fixture
def cli(capsys):
    """Run a command in this process; gives exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize("kind", BROKERS)
def test_the_summary_tells_what_is_in_the_folder(
    cli, build: Path, tmp_path: Path, interest, kind: str
) -> None:
    out = tmp_path / "out"
    code, stdout, stderr = cli("export", kind, build, "--out", out, "--json")
    assert (code, stderr) == (0, "")
    summary = json.loads(stdout)
    assert summary.keys() == KEYS
    assert summary["files"] == sorted(path.name for path in out.iterdir())
    mesh = read_mesh(out)
    assert (summary["kind"], summary["nodes"], summary["topics"]) == (kind, 6, 5)
    assert summary["renamed"] == {one.topic: one.name for one in mesh.topics if one.name != one.topic} != {}
    assert summary["links"] == len(mesh.links)
    assert summary["accounts"] == len(mesh.accounts)
    assert summary["hops_max"] >= summary["hops_overlay"] > 0  # a tree never beats the overlay it is in
    assert {node.name for node in mesh.nodes} == set(NODES)
    assert {topic.topic: set(topic.subscribers) for topic in mesh.topics} == {
        topic: {NODES[node] for node in nodes} for topic, nodes in TOPICS.items()
    }


@pytest.mark.parametrize("kind", BROKERS)
def test_every_topic_is_a_tree_over_its_subscribers_and_no_one_else(cli, build, tmp_path, kind: str) -> None:
    """Judged from the manifest alone: as many links as subscribers but one, all reached, no stranger."""
    assert cli("export", kind, build, "--out", tmp_path / "out", "--quiet")[0] == 0
    mesh = read_mesh(tmp_path / "out")
    for topic in mesh.topics:
        links = [link for link in mesh.links if topic.topic in link.topics]
        assert len(links) == len(topic.subscribers) - 1
        reached, grown = {topic.subscribers[0]}, True
        while grown:
            grown = False
            for link in links:
                ends = {link.dialer, link.acceptor}
                if ends & reached and not ends <= reached:
                    reached |= ends
                    grown = True
        assert reached == set(topic.subscribers)


@pytest.mark.parametrize("kind", [kind for kind in exporters() if kind != "gossipsub"])
def test_the_same_build_gives_the_same_bytes(cli, build: Path, tmp_path: Path, kind: str) -> None:
    for name in ("one", "two"):
        assert cli("export", kind, build, "--out", tmp_path / name, "--quiet")[0] == 0
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")
    )
    assert one == two


@pytest.mark.parametrize("kind", ["mosquitto", "nats", "zenoh"])
def test_an_export_over_an_earlier_one_keeps_the_secrets_it_made_up(cli, build, tmp_path, kind: str) -> None:
    nodes = read_interest(build).node_ids.to_pylist()
    hosts = tmp_path / "hosts.csv"
    with hosts.open("w", newline="") as file:
        csv.writer(file).writerows([("node", "host"), *((node, f"h{at}") for at, node in enumerate(nodes))])
    seen = []
    for _ in range(2):
        assert cli("export", kind, build, "--hosts", hosts, "--out", tmp_path / "mesh", "--quiet")[0] == 0
        seen.append({path.name: path.read_bytes() for path in (tmp_path / "mesh").iterdir()})
    assert seen[0] == seen[1] and "secrets.json" in seen[0]
    assert cli("export", kind, build, "--hosts", hosts, "--out", tmp_path / "other", "--quiet")[0] == 0
    assert (tmp_path / "other/secrets.json").read_bytes() != seen[0]["secrets.json"], "they are made up"


def test_an_export_is_replaced_and_nothing_else(cli, build: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("export", "nats", build, "--out", out, "--quiet")[0] == 0
    assert cli("export", "nats", build, "--out", out, "--quiet", "--backups", 0)[0] == 0
    assert not any(link.backups for link in read_mesh(out).links)
    before = sorted(path.name for path in out.iterdir())
    code, _, stderr = cli("export", "mosquitto", build, "--out", out, "--quiet")
    assert (code, "holds an export of kind nats; choose another folder" in stderr) == (2, True)
    (out / "notes.txt").write_text("mine")
    code, _, stderr = cli("export", "nats", build, "--out", out, "--quiet")
    assert code == 2
    assert "holds something else than an earlier export" in stderr
    assert sorted(path.name for path in out.iterdir()) == sorted([*before, "notes.txt"])
    code, _, stderr = cli("export", "nats", build, "--out", build)
    assert (code, (build / "edges.parquet").exists()) == (2, True)


def test_a_new_export_keeps_who_the_libp2p_nodes_are(cli, build: Path, tmp_path: Path) -> None:
    """Keys are made once: new ones would turn every node into a stranger to those that run."""
    out = tmp_path / "out"
    command = ("export", "gossipsub", build, "--out", out, "--quiet")
    assert "6 new private keys" in cli(*command)[2]
    before = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert cli(*command)[::2] == (0, "")
    assert before == {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert {path.stat().st_mode & 0o777 for path in (out / "keys").iterdir()} == {0o600}
    name = read_mesh(out).nodes[0].configs[0]
    told = json.loads((out / name).read_text(encoding="utf-8"))
    (out / told["key"]).unlink()  # taken away to its node
    assert cli(*command)[::2] == (0, "")
    again = json.loads((out / name).read_text(encoding="utf-8"))
    assert (again["id"], again["key"]) == (told["id"], None)


@pytest.mark.parametrize("kind", [*BROKERS, "gossipsub"])
def test_nodes_with_the_names_of_our_own_files(cli, tmp_path: Path, kind: str) -> None:
    """A node `manifest` must not write over the manifest, nor `ca` be given the authority's certificate."""
    nodes = ["Manifest", "ca", "keys", "manifest", "manifest.json"]
    odd = make_build(tmp_path / "odd", Interest.from_pairs((node, "x") for node in nodes))
    assert cli("export", kind, odd, "--out", tmp_path / "out", "--quiet")[0] == 0
    mesh = read_mesh(tmp_path / "out")
    assert [node.name for node in mesh.nodes] == nodes
    configs = {config for node in mesh.nodes for config in node.configs}
    assert len({config.lower() for config in configs | {"manifest.json"}}) == 6
    assert not any(config.split("~")[0].rpartition(".")[0] == "ca" for config in configs)


def test_private_keys_are_never_lost(cli, build: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("export", "gossipsub", build, "--out", out, "--quiet")[0] == 0
    keys = {path: path.read_bytes() for path in (out / "keys").iterdir()}
    fewer = Interest.from_pairs([(NODES[1], "all"), (NODES[3], "all")])
    smaller = make_build(tmp_path / "smaller", fewer)
    for words, why in (
        (["nats", build], "holds an export of kind gossipsub"),
        (["gossipsub", smaller], "--out holds the private key of node"),
        (["gossipsub", build, "--seed", 1], "--out holds the private key of node"),
    ):
        code, _, stderr = cli("export", *words, "--out", out, "--quiet")
        assert (code, why in stderr) == (2, True)
        assert keys == {path: path.read_bytes() for path in (out / "keys").iterdir()}
    (out / read_mesh(out).nodes[0].configs[0]).write_text("{")
    code, _, stderr = cli("export", "gossipsub", build, "--out", out, "--quiet")
    assert (code, "changed since it was exported" in stderr) == (2, True)
    code, _, stderr = cli("export", "gossipsub", build, "--out", out, "--overwrite", "--quiet")
    assert (code, "holds private keys that cannot be kept" in stderr) == (2, True)
    for path in keys:
        path.unlink()
    words = ("export", "gossipsub", build, "--out", out, "--overwrite", "--quiet")
    assert cli(*words)[0] == 0, "no key is left to lose"


def test_people_are_told_what_happened(cli, build: Path, tmp_path: Path) -> None:
    code, stdout, _ = cli("export", "nats", build, "--out", tmp_path / "out")
    assert code == 0
    for words in (
        "6 brokers",
        "5 topics in",
        "have a backup",
        f"next: topicloom run nats {tmp_path / 'out'}",
    ):
        assert words in stdout.replace("\n", "")


def test_the_list_names_every_kind(cli) -> None:
    code, stdout, _ = cli("export", "--list")
    assert code == 0
    for kind, exporter in exporters().items():
        assert f"{kind}: {exporter.description}" in stdout
    assert {entry["kind"] for entry in json.loads(cli("export", "--list", "--json")[1])["exporters"]} == set(
        exporters()
    )


def test_backups_can_be_turned_off(cli, build: Path, tmp_path: Path) -> None:
    with_one = json.loads(cli("export", "nats", build, "--out", tmp_path / "a", "--json")[1])
    without = json.loads(cli("export", "nats", build, "--out", tmp_path / "b", "--json", "--backups", 0)[1])
    assert with_one["backups"] > 0 == without["backups"]
    assert "urls" not in "".join(path.read_text() for path in (tmp_path / "b").glob("*.conf"))
    assert cli("export", "zenoh", build, "--out", tmp_path / "c", "--backups", 0, "--quiet")[0] == 0


def test_more_links_give_more_backups(cli, build: Path, tmp_path: Path) -> None:
    few = json.loads(cli("export", "mosquitto", build, "--out", tmp_path / "a", "--json")[1])
    many = json.loads(cli("export", "mosquitto", build, "--out", tmp_path / "b", "--split", 3, "--json")[1])
    assert many["links"] >= few["links"]
    assert many["backups"] >= few["backups"]
    assert len({link.name for link in read_mesh(tmp_path / "b").links}) == many["links"]


def logins(folder: Path) -> Path:
    path = folder / "logins.csv"
    rows = "".join(f'"{node}",u{number},{PASSWORD}{number}\n' for number, node in enumerate(NODES))
    path.write_text(f"node,user,password\n{rows}", encoding="utf-8")
    return path


def hosts(folder: Path, host: str = "site{}.example") -> Path:
    path = folder / "hosts.csv"
    rows = "".join(f'"{node}",{host.format(number)}\n' for number, node in enumerate(NODES))
    path.write_text(f"node,host\n{rows}", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", BROKERS)
def test_open_brokers_elsewhere_are_warned_about(cli, build: Path, tmp_path: Path, kind: str) -> None:
    arguments = ("export", kind, build, "--quiet")
    code, _, stderr = cli(*arguments, "--out", tmp_path / "a", "--hosts", hosts(tmp_path), "--open")
    assert (code, "give --credentials" in stderr) == (0, True)
    for config in (config for node in read_mesh(tmp_path / "a").nodes for config in node.configs):
        assert OPEN[kind] in (tmp_path / "a" / config).read_text(encoding="utf-8")
    code, _, stderr = cli(*arguments, "--out", tmp_path / "b", "--hosts", hosts(tmp_path, "127.0.0.1"))
    assert (code, stderr) == (0, "")
    secret = ("--hosts", hosts(tmp_path), "--credentials", logins(tmp_path))
    code, _, stderr = cli(*arguments, "--out", tmp_path / "c", *secret)
    assert (code, stderr) == (0, "")
    for path in (tmp_path / "c").iterdir():
        if path.name != "manifest.json":
            assert path.stat().st_mode & 0o077 == 0, f"others can read {path.name}"
            assert OPEN[kind] not in path.read_text(encoding="utf-8")
    manifest = (tmp_path / "c" / "manifest.json").read_text(encoding="utf-8")
    assert PASSWORD not in manifest


@needs_openssl
@pytest.mark.parametrize("kind", BROKERS)
def test_certificates_are_named_and_not_copied(cli, build: Path, tmp_path: Path, kind: str) -> None:
    folder = make_certificates(tmp_path / "tls", file_stems(sorted(NODES)).values())
    arguments = ("export", kind, build, "--tls", folder, "--out", tmp_path / "out", "--quiet")
    code, _, stderr = cli(*arguments)
    assert (code, stderr) == (0, "")
    mesh = read_mesh(tmp_path / "out")
    assert mesh.options["tls"] == str(folder)
    for node in mesh.nodes:
        text = (tmp_path / "out" / node.configs[0]).read_text(encoding="utf-8")
        assert f"{folder}/{node.configs[0].split('~')[0].removesuffix('.conf')}.key" in text
    assert not list((tmp_path / "out").glob("*.key"))
    (folder / "N1.key").unlink()
    code, _, stderr = cli(*arguments)
    assert (code, f"--tls {folder} has no file N1.key" in stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kafka", "BUILD"], "KIND kafka: choose one of"),
        (["mosquitto"], "KIND or BUILD is missing"),
        (["mosquitto", "/nowhere"], "/nowhere is not a build: cannot read summary.json"),
        (["mosquitto", "BUILD", "--hosts", "/nowhere"], "--hosts /nowhere cannot be read"),
        (["mosquitto", "BUILD", "--credentials", "/nowhere"], "--credentials /nowhere cannot be read"),
        (["mosquitto", "BUILD", "--tls", "/nowhere"], "--tls /nowhere is not a folder"),
        (["mosquitto", "BUILD", "--tls", "/usr"], "--tls /usr has no file ca.crt"),
        (["mosquitto", "BUILD", "--backups", "-1"], "--backups -1: give a number from 0 to 9"),
        (["mosquitto", "BUILD", "--split", "0"], "--split 0: give a number from 1 to 9"),
        (["mosquitto", "BUILD", "--split", "2", "--backups", "0"], "--backups 0 turns them off"),
        (["nats", "BUILD", "--split", "2"], "--split means nothing to nats"),
        (["zenoh", "BUILD", "--backups", "1"], "--backups means nothing to zenoh"),
        (["dot", "BUILD", "--hosts", "/nowhere"], "--hosts means nothing to dot"),
    ],
)
def test_bad_usage_exits_2_with_one_sentence(cli, build, tmp_path, arguments: list[str], words: str) -> None:
    out = tmp_path / "out"
    given = [str(build) if word == "BUILD" else word for word in arguments]
    code, stdout, stderr = cli("export", *given, "--out", out)
    assert (code, stdout) == (2, "")
    assert words in stderr
    assert len(stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_edges_of_ones_own_go_with_their_interest(cli, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("node,topic\na,x\nb,x\nb,y\nc,y\n")
    (tmp_path / "edges.csv").write_text("from,to\na,b\nb,c\nb,stranger\n")
    edges, table = tmp_path / "edges.csv", ["--interest", tmp_path / "table.csv"]
    for kind in ("graphml", "mosquitto"):
        code, out, err = cli("export", kind, edges, *table, "--out", tmp_path / kind, "--json")
        assert code == 0 and json.loads(out)["links"] == 2
        assert "1 unknown node of" in err and "is left out" in err
    code, _, err = cli("export", "graphml", edges, "--out", tmp_path / "none")
    assert code == 2 and "give --interest TABLE" in err
    (tmp_path / "edges.csv").write_text("u,v\na,b\n")
    code, _, err = cli("export", "mosquitto", edges, *table, "--out", tmp_path / "none")
    assert code == 2 and "'y'" in err and not (tmp_path / "none").exists()


def test_tables_of_ones_own_are_read_as_everywhere(cli, tmp_path: Path) -> None:
    """A spreadsheet export needs a separator, an encoding and the names of its columns here too."""
    (tmp_path / "table.csv").write_bytes("id;Gerät;Thema\n1;Küche;x\n2;Bad;x\n".encode("latin-1"))
    (tmp_path / "edges.csv").write_bytes("Küche;Bad\n".encode("latin-1"))
    given = ["export", "graphml", tmp_path / "edges.csv", "--interest", tmp_path / "table.csv"]
    code, _, err = cli(*given, "--out", tmp_path / "out")
    assert code == 2 and "try --encoding latin-1" in err
    read = ["--separator", ";", "--encoding", "latin-1", "--node-column", "Gerät", "--topic-column", "Thema"]
    more = ["--edges-separator", ";", "--edges-encoding", "latin-1", "--edges-no-header"]
    code, out, _ = cli(*given, *read, *more, "--out", tmp_path / "out", "--json")
    assert code == 0 and (json.loads(out)["nodes"], json.loads(out)["links"]) == (2, 1)
    code, _, err = cli(
        "export", "graphml", tmp_path / "build", "--encoding", "latin-1", "--out", tmp_path / "no"
    )
    assert code == 2 and "--encoding tells how to read a table; give --interest too" in err


def test_out_is_needed(cli, build: Path) -> None:
    code, _, stderr = cli("export", "nats", build)
    assert (code, "--out is missing" in stderr) == (2, True)


@pytest.mark.parametrize("kind", [*BROKERS, "gossipsub"])
def test_an_overlay_that_leaves_a_topic_in_parts_is_refused(cli, tmp_path: Path, interest, kind: str) -> None:
    split = make_build(tmp_path / "split", interest, Overlay.from_edges(interest.node_ids, [0], [1]))
    code, _, stderr = cli("export", kind, split, "--out", tmp_path / "out")
    assert (code, len(stderr.strip().splitlines())) == (2, 1)
    assert "is not connected: no path of its subscribers joins" in stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", BROKERS)
def test_what_cannot_be_named_leaves_nothing(cli, tmp_path: Path, kind: str) -> None:
    long = make_build(tmp_path / "long", Interest.from_pairs([("a", "x" * 70_000), ("b", "x" * 70_000)]))
    code, _, stderr = cli("export", kind, long, "--out", tmp_path / "out")
    assert code == 2
    assert f"has a name of 70,000 bytes on {kind}" in stderr
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".tmp-*"))


def test_a_plan_that_does_not_hold_is_not_written(
    cli, build, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checker is asked about what is about to be written: a lost link must not reach the disk."""
    from topicloom.mesh.plan import link_plan

    for kind, planner in (("mosquitto", "tree_links"), ("nats", "forest_links")):
        honest = getattr(link_plan, planner)
        monkeypatch.setattr(link_plan, planner, lambda plan, honest=honest: honest(plan)[1:])
        code, _, stderr = cli("export", kind, build, "--out", tmp_path / "out")
        assert (code, "internal error" in stderr, (tmp_path / "out").exists()) == (2, True, False)


@pytest.mark.slow
def test_no_spark_is_started(build: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom topicloom.cli.main import execute\n"
        f"code = execute(['export', 'nats', {str(build)!r}, '--out', {str(tmp_path / 'out')!r}, '--quiet'])\n"
        "sys.exit(code or 'topicloom.tables.spark.session' in sys.modules and "
        "sys.modules['topicloom.tables.spark.session'].session_runs())"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@needs_nats
def test_nats_takes_every_configuration(cli, build: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("export", "nats", build, "--out", out, "--credentials", logins(tmp_path), "--quiet")[0] == 0
    for path in out.glob("*.conf"):
        done = subprocess.run(
            [nats_server(), "-t", "-c", str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@needs_mosquitto
def test_mosquitto_takes_every_configuration(cli, build: Path, tmp_path: Path) -> None:
    """2.0 cannot test a configuration, so each broker is started."""
    from brokers_present import free_ports

    path = tmp_path / "hosts.csv"
    rows = "".join(f'"{node}",127.0.0.1,{port}\n' for node, port in zip(NODES, free_ports(6), strict=True))
    path.write_text(f"node,host,port\n{rows}", encoding="utf-8")
    out = tmp_path / "out"
    assert cli("export", "mosquitto", build, "--out", out, "--hosts", path, "--quiet")[0] == 0
    commands = [[mosquitto(), "-c", str(config)] for config in sorted(out.glob("*.conf"))]
    assert len(commands) == 6
    with running(*commands, cwd=tmp_path) as brokers:
        logs = [tmp_path / f"log-{place}" for place in range(6)]
        wait_for(lambda: all(" running" in log.read_text() for log in logs), "six brokers")
        assert all(broker.poll() is None for broker in brokers)
