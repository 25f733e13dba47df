"""`topicloom improve`: any overlay in, a proved better one out; resumed, refused, told. No Spark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from naive.overlays import random_interest, ring_per_topic
from topicloom import improve, load_build
from topicloom.cli.main import execute
from topicloom.overlay.builders.improve import improve_parameters

INTEREST = random_interest(40, 8, 3, seed=3)
LOCAL = ("--engine", "local")


@pytest.fixture
def cli(capsys):
    """Run a command in this process; gives exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "table.csv"
    INTEREST.to_pandas().to_csv(path, index=False)
    return path


@pytest.fixture
def edges(tmp_path) -> Path:
    path = tmp_path / "edges.csv"
    ring_per_topic(INTEREST).to_pandas().to_csv(path, index=False)
    return path


def test_a_table_of_edges_becomes_a_proved_build(cli, table, edges, tmp_path):
    out = tmp_path / "out"
    code, stdout, _ = cli("improve", table, edges, *LOCAL, "--rounds", 4, "--out", out, "--json")
    summary = json.loads((out / "summary.json").read_text())
    assert code == 0 and summary == json.loads(stdout)
    start = ring_per_topic(INTEREST)
    assert summary["edges"] < start.n_edges == summary["report"]["edges_start"]
    assert summary["degree_max"] <= int(start.degrees().max()) and summary["topic_connected"]
    assert cli("verify", table, out, *LOCAL)[0] == 0
    # A ring survives a death, and so does what came of it: no bound that held is broken.
    assert summary["survival"]["survive"] == summary["report"]["bounds"]["survive"] == 1
    again = improve(INTEREST, start, rounds=4)
    assert again.n_edges == summary["edges"]


def test_help_tells_the_time_that_is_searched_by_default(cli):
    seconds = improve_parameters()["time_limit"].default
    assert re.search(rf"--time-limit .*default: \(?{seconds:g}\)?\]", cli("improve", "--help")[1])


def test_a_run_goes_on_under_the_bounds_of_the_first(cli, table, edges, tmp_path):
    out = tmp_path / "out"
    cli("improve", table, edges, *LOCAL, "--rounds", 2, "--out", out)
    first = json.loads((out / "summary.json").read_text())
    code, _, _ = cli("improve", table, edges, *LOCAL, "--rounds", 2, "--out", out, "--resume")
    second = json.loads((out / "summary.json").read_text())
    assert code == 0 and second["edges"] <= first["edges"] and second["report"]["runs"] == 2
    for key in ("bounds", "edges_start", "objective_start"):
        assert second["report"][key] == first["report"][key]
    assert second["parameters"]["max_degree"] == "auto"
    options = ("--out", out, "--resume", "--objective", "hops")
    code, _, stderr = cli("improve", table, edges, *LOCAL, *options)
    assert code == 2 and "was improved with objective=edges, not hops" in stderr


@pytest.fixture
def weights(tmp_path) -> dict[str, Path]:
    """Tables of rates, round-trip times, costs and caps."""
    tables = {
        "rates": "topic,rate\n"
        + "".join(f"{t},{i + 1}\n" for i, t in enumerate(INTEREST.topic_ids.to_pylist())),
        "rtt": "u,v,ms\nn0001,n0002,3.5\nn0003,n0002,40\n",
        "costs": "u,v,cost\nn0001,n0002,3.5\nn0003,n0002,40\n",
        "caps": "node,cap\n*,9\n",
        "require": "u,v\nn0001,n0002\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return {name: tmp_path / f"{name}.csv" for name in tables}


@pytest.mark.parametrize("objective", ["rate-hops", "rate-ms", "cost"])
def test_weights_come_from_tables_and_measure_tells_the_same_figure(
    cli, table, edges, weights, tmp_path, objective
):
    out = tmp_path / "out"
    given = ("--rates", weights["rates"], "--rtt", weights["rtt"], "--costs", weights["costs"])
    options = ("--objective", objective, "--rounds", 4, "--out", out)
    code, stdout, _ = cli("improve", table, edges, *LOCAL, *given, *options)
    summary = json.loads((out / "summary.json").read_text())
    assert code == 0 and " before, " in stdout
    assert summary["report"]["objective"] <= summary["report"]["objective_start"]
    code, stdout, _ = cli("measure", table, out, *LOCAL, *given, "--json")
    key = {"rate-hops": "delivery_hops", "rate-ms": "delivery_ms", "cost": "cost_total"}[objective]
    assert code == 0 and json.loads(stdout)[key] == pytest.approx(summary["report"]["objective"])
    assert "milliseconds of a delivery" in cli("measure", table, out, *LOCAL, *given)[1]
    built = tmp_path / "built"
    code, stdout, _ = cli("build", table, *LOCAL, *given, "--set", f"objective={objective}", "--out", built)
    assert code == 0 and " before, " in stdout


@pytest.mark.parametrize("kind", ["rates", "rtt", "costs", "caps", "require"])
def test_resume_refuses_other_constraints_and_weights(cli, table, edges, weights, tmp_path, kind):
    out = tmp_path / "out"
    options = ("--rounds", 1, "--out", out)
    assert cli("improve", table, edges, *LOCAL, *options, f"--{kind}", weights[kind])[0] == 0
    assert cli("improve", table, edges, *LOCAL, *options, f"--{kind}", weights[kind], "--resume")[0] == 0
    code, _, stderr = cli("improve", table, edges, *LOCAL, *options, "--resume")
    assert code == 2 and f"improved with other --{kind}" in stderr
    text = weights[kind].read_text()
    changed = {"caps": ",9", "require": "n0002\n"}.get(kind, ",3.5\n" if kind in ("rtt", "costs") else ",1\n")
    weights[kind].write_text(text.replace(changed, {"caps": ",8", "require": "n0003\n"}.get(kind, ",7\n")))
    code, _, stderr = cli("improve", table, edges, *LOCAL, *options, f"--{kind}", weights[kind], "--resume")
    assert code == 2 and f"improved with other --{kind}" in stderr


def test_resume_refuses_other_extra_edges_and_does_not_spend_them_twice(cli, table, edges, tmp_path):
    out = tmp_path / "out"
    options = ("--rounds", 2, "--out", out, "--extra-edges", "20%", "--objective", "hops")
    cli("improve", table, edges, *LOCAL, *options)
    first = json.loads((out / "summary.json").read_text())
    assert cli("improve", table, edges, *LOCAL, *options, "--resume")[0] == 0
    second = json.loads((out / "summary.json").read_text())
    assert second["edges"] <= 1.2 * first["report"]["bounds"]["edges"] + 1
    options = ("--rounds", 2, "--out", out, "--extra-edges", "30%", "--objective", "hops")
    code, _, stderr = cli("improve", table, edges, *LOCAL, *options, "--resume")
    assert code == 2 and "extra" in stderr


def test_a_cap_on_loads_without_room_ends_with_1_and_names_a_node(cli, table, edges, tmp_path):
    caps = tmp_path / "loads.csv"
    caps.write_text("node,cap,load\nn0001,,1\n")
    options = ("--rounds", 2, "--out", tmp_path / "out", "--caps", caps)
    code, stdout, stderr = cli("improve", table, edges, *LOCAL, *options)
    assert code == 1 and "'n0001' has to forward more than its cap on loads" in stdout + stderr
    code, stdout, stderr = cli("build", table, *LOCAL, "--caps", caps, "--out", tmp_path / "built")
    assert code == 1 and "'n0001' has to forward more than its cap on loads" in stdout + stderr
    code, _, stderr = cli(
        "build", table, *LOCAL, "--caps", caps, "--algorithm", "gm", "--out", tmp_path / "no"
    )
    assert code == 2 and "gm does not honour" in stderr and "Traceback" not in stderr


def test_a_cap_on_loads_that_is_kept_tells_of_edges(cli, table, tmp_path):
    caps = tmp_path / "loads.csv"
    caps.write_text("node,cap,load\nn0001,,1000\n")
    code, stdout, stderr = cli("build", table, *LOCAL, "--caps", caps, "--out", tmp_path / "built")
    assert code == 0 and " edges before, " in stdout and not stderr.count("error")


def test_edges_that_a_cap_on_loads_takes_are_told(cli, tmp_path):
    table, caps = tmp_path / "hub.csv", tmp_path / "loads.csv"
    wanted = {"hub": "xyz", "p": "xy", "q": "yz", "r": "xz"}
    rows = [f"{node},{topic}" for node, topics in wanted.items() for topic in topics]
    table.write_text("\n".join(["node,topic", *rows, ""]))
    caps.write_text("node,cap,load\nhub,,4\n")
    code, stdout, stderr = cli("build", table, *LOCAL, "--caps", caps, "--out", tmp_path / "built")
    assert code == 0 and "1 edge more, for the caps on loads" in stdout, stderr


def test_a_number_of_edges_joins_what_it_can_and_exits_0(cli, table, weights, tmp_path):
    out, few = tmp_path / "few", ("--max-edges", 10)
    code, stdout, _ = cli("build", table, *LOCAL, *few, "--rates", weights["rates"], "--out", out)
    summary = json.loads((out / "summary.json").read_text())
    assert code == 0 and summary["algorithm"] == "gm" and summary["edges"] == 10
    assert "with --max-edges that was not asked for" in stdout and not summary["topic_connected"]
    joins = f"{summary['report']['joins']} joins of 112 made; by rates"
    assert joins in stdout
    code, _, stderr = cli("build", table, *LOCAL, *few, "--algorithm", "balanced", "--out", tmp_path / "no")
    assert code == 2 and "balanced does not stop at a number of edges (--max-edges); gm does" in stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("rates", "topic,rate\nnothing,1\n", "'nothing' is not a topic of the interest"),
        ("rates", "topic,rate\nt1,\n", "the rate is missing"),
        ("rates", "topic,rate\nt1,-1\n", "not a finite number of at least 0"),
        ("rates", "topic,rate\nt1,1\nt1,2\n", "the rate differs from another row of the same topic"),
        ("rtt", "u,v,ms\nn0001,n0002,0\n", "not a finite number above 0"),
        (
            "rtt",
            "u,v,ms\nn0001,n0002,1\nn0002,n0001,2\n",
            "the time differs from another row of the same pair",
        ),
        ("rtt", "u,v,ms\nn0001,elsewhere,1\n", "'elsewhere' is not a node of the interest"),
        (
            "caps",
            "node,cap,load\nn0001,9,1\nn0001,9,2\n",
            "the load differs from another row of the same node",
        ),
        ("caps", "node,cap,load\nn0001,,-1\n", "not a finite number of at least 0"),
    ],
)
def test_bad_weights_are_refused(cli, table, edges, tmp_path, name, text, said):
    path, out = tmp_path / "weights.csv", tmp_path / "out"
    path.write_text(text.replace("t1", INTEREST.topic_ids[0].as_py()))
    code, _, stderr = cli("improve", table, edges, *LOCAL, "--rounds", 1, "--out", out, f"--{name}", path)
    assert code == 2 and said in stderr and "weights.csv" in stderr and not out.exists()


def test_split_topics_are_joined_first(cli, table, tmp_path):
    edges, out = tmp_path / "edges.csv", tmp_path / "out"
    edges.write_text("u,v\nn0001,n0002\nn0001,elsewhere\n")
    code, stdout, stderr = cli("improve", table, edges, *LOCAL, "--rounds", 2, "--out", out)
    assert "edges.csv: 1 row names a node that is not in the interest" in stderr
    assert code == 0 and "put in to join what was split" in stdout and "proved: each" in stdout
    assert load_build(out).report["edges_joining"] > 0


def test_caps_without_room_end_with_1_and_name_a_node(cli, table, edges, tmp_path):
    caps = tmp_path / "caps.csv"
    caps.write_text("node,cap\nn0001,1\n")
    options = ("--rounds", 2, "--out", tmp_path / "out", "--caps", caps)
    code, stdout, stderr = cli("improve", table, edges, *LOCAL, *options)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert code == 1 and summary["report"]["nodes_above_cap"] == ["n0001"]
    assert "'n0001' has more edges than its cap" in stdout + stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--objective", "speed"], "--objective speed"),
        (["--objective", "cost"], "--objective cost needs --costs"),
        (["--survive", "5"], "--survive 5"),
        (["--objective", "rate-ms"], "--objective rate-ms needs --rtt"),
        (["--objective", "rate-hops"], "--objective rate-hops needs --rates"),
        (["--resume"], "--resume"),
        (["--start", "x.csv"], "--require names edges to keep"),
        (["--survive", "1", "--extra-edges", "5%"], "--extra-edges 5 goes without --survive 1"),
        (["--max-hops", "0"], "--max-hops 0"),
        (["--caps", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(cli, table, edges, tmp_path, options, said):
    out = tmp_path / "out"
    code, _, stderr = cli("improve", table, edges, *LOCAL, "--out", out, *options)
    assert code == 2 and said in stderr and "Traceback" not in stderr and not out.exists()


def test_a_build_of_another_table_is_refused(cli, table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("node,topic\na,x\nb,x\n")
    cli("build", other, *LOCAL, "--out", tmp_path / "build")
    code, _, stderr = cli("improve", table, tmp_path / "build", *LOCAL, "--out", tmp_path / "out")
    assert code == 2 and "Traceback" not in stderr


@pytest.mark.spark
def test_a_folder_that_spark_built_is_improved(cli, spark, table, tmp_path):
    built, out = tmp_path / "built", tmp_path / "out"
    code, _, stderr = cli(
        "build", table, "--engine", "spark", "--algorithm", "dcbr-m", "--out", built, "--quiet"
    )
    assert code == 0, stderr
    first = json.loads((built / "summary.json").read_text())
    assert first["engine"] == "spark"
    code, stdout, stderr = cli("improve", built, built, "--rounds", 4, "--out", out, "--json")
    found = json.loads(stdout)
    assert code == 0 and found["edges"] <= first["edges"] == found["report"]["edges_start"]
    assert found["degree_max"] <= first["degree_max"] and found["topic_connected"]


def test_certify_tells_what_its_bounds_leave_out(cli, table, edges, weights, tmp_path):
    out = tmp_path / "out"
    options = ("--rounds", 4, "--out", out, "--certify")
    code, stdout, _ = cli("improve", table, edges, *LOCAL, *options, "--survive", 1)
    found = json.loads((out / "summary.json").read_text())
    assert code == 0 and found["bound_survive"] == 1 and "survives 1 death has fewer than" in stdout
    code, stdout, _ = cli("measure", table, out, *LOCAL, "--certify", "--survive", 1, "--json")
    measured = json.loads(stdout)
    assert code == 0 and measured["edges_bound"] == found["edges_bound"] and measured["bound_survive"] == 1
    assert cli("measure", table, out, *LOCAL, "--survive", 1)[0] == 2
    given = ("--costs", weights["costs"], "--caps", weights["caps"])
    code, stdout, _ = cli("improve", table, edges, *LOCAL, *options, *given, "--objective", "cost")
    assert code == 0 and "bounds are those of overlays without constraints (caps, costs)" in stdout
    assert "no overlay costs less than" in stdout and "optimal" not in stdout
    code, stdout, _ = cli("build", table, *LOCAL, *given, "--certify", "--out", tmp_path / "built")
    assert code == 0 and "bounds are those of overlays without constraints" in stdout


def test_weights_that_change_nothing_are_told_and_edges_beyond_the_number_end_with_1(
    cli, table, edges, weights, tmp_path
):
    out, both = tmp_path / "out", ("--rates", weights["rates"], "--rtt", weights["rtt"])
    code, stdout, stderr = cli("improve", table, edges, *LOCAL, *both, "--rounds", 1, "--out", out)
    assert code == 0 and "--rates changes nothing here" in stderr and "--rtt changes nothing here" in stderr
    code, _, stderr = cli("build", table, *LOCAL, *both, "--out", tmp_path / "built")
    assert code == 0 and "--rates changes nothing here" in stderr
    code, _, stderr = cli("measure", table, edges, *LOCAL, *both[2:])
    assert code == 2 and "--rtt needs --rates" in stderr
    options = ("--rounds", 1, "--max-edges", 3, "--out", out)
    code, stdout, stderr = cli("improve", table, edges, *LOCAL, *options)
    assert code == 1 and "no overlay of 3 edges was found" in stdout + stderr
    code, _, stderr = cli("measure", table, out, *LOCAL, "--certify", "--survive", 2)
    assert code == 0
