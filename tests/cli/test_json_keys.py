"""Keys in files and `--json` are promises: every JSON object that a command prints or writes, key by key.

tests/golden/json_keys.json has the keys, their order and the types of their values. After a change that is
meant, write it anew and read the difference:

    WRITE_GOLDEN=1 pytest -p no:xdist tests/cli/test_json_keys.py && git diff tests/golden
"""

from __future__ import annotations

import json
import os
import tarfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

import topicloom.cli.warming as warming
import topicloom.overlay.jobs.build_spark as build_spark
import topicloom.overlay.jobs.demo as demo
import topicloom.tables.spark.pack as pack
from brokers_present import needs_mosquitto, needs_nats, zenoh_module
from hand_mesh import INTEREST, LINKS, write_hand_mesh
from json_shape import folder_shapes, shape
from mesh.exported import RING, RING_EDGES, export_mesh
from topicloom.errors import InputError
from topicloom.mesh.jobs.export import exporters

GOLDEN = Path(__file__).parent.parent / "golden" / "json_keys.json"
DATA = ("degree_histogram", "messages", "digests", "renamed", "packages", "ports", "connections")
"""Objects under these keys have names of things as keys."""

TABLE = "node,topic,role,rate\n" + "".join(
    f"n{node},t{topic},both,{node + 1}.5\n" for node in range(8) for topic in range(5) if (node + topic) % 3
)
SPLIT = "node,topic\na,x\nb,x\nc,x\nd,y\ne,y\n"
STAR = "node,topic\n" + "".join(f"hub,t{i}\nleaf{i},t{i}\n" for i in range(4))


def check(name: str, found: dict[str, Any]) -> None:
    """Compare shapes with the golden ones, or write them; of equal ones only the first has all its lines."""
    told: dict[str, Any] = {}
    for key, lines in found.items():
        told[key] = next((f"as {other}" for other, its in told.items() if its == lines), lines)
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if "WRITE_GOLDEN" in os.environ:
        golden[name] = told
        GOLDEN.write_text(json.dumps(dict(sorted(golden.items())), indent=1) + "\n")
    assert told == golden[name]
    assert list(told) == list(golden[name])


@pytest.mark.parametrize(
    "changed",
    [
        '{"a": 1}',
        '{"a": 1, "b": [{"c": 1}], "d": 0}',
        '{"a": 1, "b": [{"c": 1.5}]}',
        '{"b": [{"c": 1}], "a": 1}',
    ],
)
def test_a_missing_extra_retyped_or_moved_key_is_seen(changed, tmp_path, monkeypatch):
    golden = tmp_path / "keys.json"
    golden.write_text(json.dumps({"command": {"printed": ["a int", "b[].c int"]}}))
    monkeypatch.setitem(globals(), "GOLDEN", golden)
    monkeypatch.delenv("WRITE_GOLDEN", raising=False)
    check("command", {"printed": shape({"a": 1, "b": [{"c": 1}, {"c": 2}]})})
    with pytest.raises(AssertionError):
        check("command", {"printed": shape(json.loads(changed))})


def test_shapes_of_lists_and_mappings():
    value = {"rows": [{"x": None}, {"x": 1, "y": []}], "by_name": {"n": {"z": True}}, "none": {}}
    assert shape(value, ["by_name"]) == [
        "rows[].x? null", "rows[].x? int", "rows[].y[]? empty", "by_name{}.z bool", "none empty",
    ]  # fmt: skip


@pytest.fixture
def keys(cli, tmp_path):
    """Run a command with --json and compare all keys that it prints, and writes into `out`."""

    def run(name: str, *words: object, out: Path | None = None, code: int = 0, data: Any = DATA) -> Any:
        named = () if out is None else ("--out", out)
        found, printed, said = cli(*words, *named, "--json")
        assert found == code, said
        content = json.loads(printed)
        files = {} if out is None else folder_shapes(out, data)
        check(name, {"printed": shape(content, data), **files})
        return content

    for file, text in (("table.csv", TABLE), ("split.csv", SPLIT), ("star.csv", STAR)):
        (tmp_path / file).write_text(text)
    return run


def test_tables(keys, tmp_path):
    keys("generate", "generate", tmp_path / "drawn.csv", "--nodes", 20, "--topics", 5, "--subscriptions", 2)
    keys("inspect", "inspect", tmp_path / "table.csv")


def test_builds(keys, cli, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "build"
    keys("build", "build", table, "--algorithm", "gm", out=out)
    keys("measure", "measure", out, out)
    keys("measure --certify", "measure", out, out, "--certify")
    keys("verify", "verify", out, out)
    keys("build of no name", "build", table, "--certify", out=tmp_path / "default")
    sturdy = tmp_path / "sturdy"
    keys("build --survive", "build", table, "--survive", 1, out=sturdy)
    keys("verify --survive", "verify", sturdy, sturdy, "--survive", 2, code=1)
    keys("improve", "improve", table, out, "--rounds", 1, out=tmp_path / "improved")
    keys("build exact", "build", table, "--algorithm", "exact", out=tmp_path / "exact")
    keys("build dcbr-m", "build", table, "--algorithm", "dcbr-m", out=tmp_path / "dcbr-m")


def test_reproductions(keys, tmp_path):
    words = ("chockler2007a-lemma66", "--engine", "local")
    keys("reproduce", "reproduce", *words)
    keys("reproduce --list", "reproduce", "--list")
    keys("reproduce INTEREST", "reproduce", tmp_path / "table.csv", "--algorithms", "gm,ring-pt")


def test_builds_under_constraints(keys, tmp_path):
    table = tmp_path / "star.csv"
    (tmp_path / "caps.csv").write_text("node,cap\nhub,2\n")
    (tmp_path / "costs.csv").write_text("u,v,cost\nhub,leaf0,2.5\n")
    caps, costs = ("--caps", tmp_path / "caps.csv"), ("--costs", tmp_path / "costs.csv")
    first = tmp_path / "costly"
    keys("build --costs", "build", table, "--algorithm", "gm", *costs, out=first)
    more = (*costs, "--start", first)
    keys("build --start", "build", table, "--algorithm", "gm", *more, out=tmp_path / "more")
    keys("build --caps", "build", table, "--algorithm", "gm", *caps, out=tmp_path / "capped", code=1)


def test_builds_on_spark(keys, cli, tmp_path, monkeypatch):
    words = ("--algorithm", "dcbr-m", "--engine", "spark", "--set", "kernel_nodes=60")
    table = tmp_path / "drawn.csv"
    assert cli("generate", table, "--nodes", 150, "--topics", 9, "--subscriptions", 2, "--quiet")[0] == 0
    with monkeypatch.context() as patch:

        def broken(*_: object, **__: object) -> None:
            raise InputError("the disk is full")

        patch.setattr(build_spark, "judge", broken)
        assert cli("build", table, *words, "--out", tmp_path / "build", "--quiet")[0] == 2
    check("build on Spark, unfinished", folder_shapes(tmp_path / "build"))
    resumed = ("build", table, *words, "--resume")
    keys("build on Spark", *resumed, out=tmp_path / "build")
    keys("build on Spark", *resumed, out=tmp_path / "build")
    built = tmp_path / "build"
    keys("measure on Spark", "measure", built, built, "--certify", "--engine", "spark")
    improve = ("improve", built, built, "--engine", "spark", "--rounds", 1)
    keys("improve on Spark", *improve, out=tmp_path / "improved")
    keys("inspect on Spark", "inspect", table, "--engine", "spark")


def test_split_topics(keys, tmp_path):
    table, edges = tmp_path / "split.csv", tmp_path / "edges.csv"
    edges.write_text("u,v\na,b\n")
    witnesses = tmp_path / "witnesses.json"
    keys("verify, split", "verify", table, edges, "--all", witnesses, code=1)
    check("verify --all", {"witnesses": shape(json.loads(witnesses.read_text()))})
    keys("measure, split", "measure", table, edges, "--certify")


def test_comparisons(keys, cli, tmp_path, monkeypatch):
    words = ("--algorithms", "gm,ring-pt")
    keys("compare", "compare", tmp_path / "table.csv", *words)
    keys("compare --out", "compare", tmp_path / "table.csv", *words, out=tmp_path / "all")
    keys("report", "report", tmp_path / "all", "--out", tmp_path / "all.html")
    drawn = ("--nodes", 12, "--topics", 5, "--subscriptions", 2, "--algorithms", "gm")
    keys("compare --seeds", "compare", *drawn, "--seeds", 2, "--frontier", out=tmp_path / "means")
    about = {"topic": ["t1"], "node": ["n1"], "edge": ["n1", "n2"]}
    (tmp_path / "ends.csv").write_text("node,topic\nn2,t1\nn8,t1\nn1,t1\n")
    built = ("build", tmp_path / "ends.csv", "--algorithm", "star", "--out", tmp_path / "ends", "--quiet")
    assert cli(*built)[0] == 0
    for what, names in about.items():
        keys(f"explain --{what}", "explain", tmp_path / "ends", f"--{what}", *names)
    monkeypatch.setattr(demo, "NODES", 60)
    monkeypatch.setattr(demo, "ALGORITHMS", ("gm", "ring-pt"))
    keys("demo", "demo", out=tmp_path / "demo")


@pytest.mark.parametrize("protocol", ["spidercast", "similarity", "random"])
def test_simulations(keys, tmp_path, protocol):
    words = ("--protocol", protocol, "--set", "publish=5", "--set", "seconds=6", "--set", "snapshot=2")
    keys(f"simulate {protocol}", "simulate", tmp_path / "table.csv", *words, out=tmp_path / "course")


def test_simulation_until_settled(keys, tmp_path):
    keys("simulate", "simulate", tmp_path / "table.csv")


def test_lists(keys):
    data = (*DATA, "parameters")
    for words in (
        "build --list", "simulate --list", "simulate --rules", "export --list", "content plan --list",
        "content simulate --list", "content simulate --rules",
    ):  # fmt: skip
        keys(words, *words.split(), data=data)


def test_content(keys, tmp_path):
    problem, plan = tmp_path / "problem", tmp_path / "plan"
    size = ("--users", 12, "--brokers", 3, "--channels", 8, "--width", 0.3, "--seed", 1)
    keys("content generate", "content", "generate", problem, *size)
    keys("content plan", "content", "plan", problem, out=plan)
    keys("content plan exact", "content", "plan", problem, "--algorithm", "exact")
    keys("content plan random", "content", "plan", problem, "--algorithm", "random")
    keys("content cost", "content", "cost", problem, plan)
    words = ("--set", "rounds=3", "--set", "deliveries=50")
    keys("content simulate", "content", "simulate", problem, *words, out=tmp_path / "course")


def test_content_traffic(keys, tmp_path):
    log, subscriptions = tmp_path / "log.csv", tmp_path / "subs.csv"
    log.write_text("publisher,time,x\na,0,1\nb,5,3\nb,6,9\nc,10,3\n")
    subscriptions.write_text("user,subscription,attribute,low,high\na,1,x,2,4\nb,1,x,0,2\nb,2,x,3,10\n")
    words = ("content", "traffic", "--log", log, "--subscriptions", subscriptions)
    keys("content traffic", *words, out=tmp_path / "problem")


def test_exports(keys, cli, tmp_path):
    build = tmp_path / "build"
    assert cli("build", tmp_path / "table.csv", "--algorithm", "gm", "--out", build, "--quiet")[0] == 0
    for kind in exporters():
        keys(f"export {kind}", "export", kind, build, out=tmp_path / kind)
    for kind in ("mosquitto", "nats"):
        keys(f"verify --{kind}", "verify", f"--{kind}", tmp_path / kind)


def test_findings(keys, tmp_path):
    folder = tmp_path / "brokers"
    folder.mkdir()
    (folder / "hub.conf").write_text("connection down\naddress site\ntopic t/1 both\n")
    (folder / "site.conf").write_text("connection up\naddress hub\ntopic t/# both 1\n")
    (folder / "far.conf").write_text("connection up\naddress hub\ntopic s/# out\n")
    keys("verify --mosquitto, findings", "verify", "--mosquitto", folder, code=1)


QUICK = ("--messages", 1, "--settle", 0.2)


@needs_mosquitto
def test_mosquitto_runs(keys, tmp_path):
    folder = tmp_path / "mesh"
    write_hand_mesh(folder, INTEREST, LINKS)
    keys("run mosquitto", "run", "mosquitto", folder, *QUICK)
    keys("run --compare", "run", "mosquitto", folder, *QUICK, "--compare")
    (folder / "c.conf").write_text((folder / "c.conf").read_text().partition("connection")[0])
    keys("run mosquitto, not exact", "run", "mosquitto", folder, *QUICK, code=1)


@needs_nats
def test_nats_runs(keys, tmp_path):
    export_mesh("nats", tmp_path / "mesh", RING, RING_EDGES, backups=1)
    keys("run nats", "run", "nats", tmp_path / "mesh", *QUICK)
    keys("run nats --kill", "run", "nats", tmp_path / "mesh", *QUICK, "--kill", "b")


def test_zenoh_runs(keys, tmp_path):
    zenoh_module()
    export_mesh("zenoh", tmp_path / "mesh", RING, RING_EDGES)
    keys("run zenoh", "run", "zenoh", tmp_path / "mesh", *QUICK)


def test_warm_and_pack(keys, tmp_path, monkeypatch):
    monkeypatch.setattr(warming, "warm_kernels", lambda everything, progress: 1.0)
    keys("warm", "warm")
    monkeypatch.setattr(pack, "_distributions", lambda: [distribution("msgspec")])
    monkeypatch.setattr(pack, "_warm", lambda tree, warm, progress: None)
    archive = tmp_path / "env.tar.gz"
    keys("pack", "pack", archive)
    with tarfile.open(archive) as found:
        (name,) = [name for name in found.getnames() if Path(name).name == pack.MANIFEST]
        manifest = found.extractfile(name)
        assert manifest is not None
        check("pack, in the archive", {name: shape(json.loads(manifest.read()), DATA)})
