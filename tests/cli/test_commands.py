"""Every command as a user runs it: what it prints, what it writes, and its exit code.

Commands run in this process and share its Spark session; `test_process.py` starts real processes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicloom.overlay.workloads.laws import sample_path

BUILD_KEYS = {
    "format", "kind", "version", "algorithm", "parameters", "seed", "nodes", "topics", "subscriptions",
    "duplicates", "rejected", "interest_digest", "edges", "degree_max", "degree_avg", "topic_components",
    "topics_partitioned", "topic_connected", "seconds",
}  # fmt: skip
VERIFY_KEYS = {
    "topic_connected", "topics", "topics_partitioned", "topic_components", "edges", "unknown_nodes",
    "self_loops", "duplicate_edges", "witnesses",
}  # fmt: skip
MEASURE_KEYS = {
    "nodes", "topics", "subscriptions", "edges", "degree_max", "degree_avg", "topic_components",
    "topics_partitioned", "topic_connected", "degree_percentiles", "diameter_overlay", "diameter_topic_max",
    "diameter_topic_avg", "topics_per_edge_avg", "filtering_cost", "duplicates", "rejected",
    "interest_digest",
}  # fmt: skip
INSPECT_KEYS = {
    "nodes", "topics", "subscriptions", "duplicates", "rejected", "subscription_size", "topics_single",
    "components", "identical_share", "top_topics", "intersection",
}  # fmt: skip
PROMISED_BUILDERS = {
    "gm", "gm-m", "low-oda", "minmax-oda", "dcb-m", "dcbr-m", "cd-oda", "cd-oda-i", "cd-oda-ii", "2d-oda",
    "ring-pt", "star", "full-mesh", "balanced", "exact",
}  # fmt: skip

TABLE = "node,topic\na,x\nb,x\nb,y\nc,y\nc,z\na,x\n"


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def build(cli, table, tmp_path) -> Path:
    out = tmp_path / "build"
    assert cli("build", table, "--out", out, "--quiet")[0] == 0
    return out


def test_build_writes_a_folder_to_the_letter(cli, table, tmp_path):
    out = tmp_path / "build"
    code, stdout, _ = cli("build", table, "--algorithm", "gm", "--out", out, "--json")
    summary = json.loads(stdout)
    assert code == 0
    assert summary.keys() >= BUILD_KEYS
    assert json.loads((out / "summary.json").read_text()) == summary
    assert sorted(path.name for path in out.iterdir()) == [
        "edges.parquet",
        "interest.parquet",
        "summary.json",
    ]
    edges = pq.read_table(out / "edges.parquet")
    assert edges.schema.names == ["u", "v"]
    assert edges.to_pylist() == [{"u": "a", "v": "b"}, {"u": "b", "v": "c"}]
    interest = pq.read_table(out / "interest.parquet").to_pylist()
    assert interest == sorted(interest, key=lambda row: (row["node"].encode(), row["topic"].encode()))
    assert len(interest) == 5
    assert summary["duplicates"] == 1
    assert summary["topic_components"] == summary["topics"] == 3
    assert {"ingest", "build", "verify", "total"} <= summary["seconds"].keys()


def test_json_leaves_stdout_to_one_object(cli, table, build):
    for arguments in (
        ["build", table, "--out", build],
        ["inspect", table],
        ["verify", table, build],
        ["measure", build, build],
        ["compare", table, "--algorithms", "gm,ring-pt"],
    ):
        code, stdout, _ = cli(*arguments, "--json")
        assert code == 0
        assert isinstance(json.loads(stdout), dict)


def test_binding_keys(cli, table, build):
    keys = {"verify": VERIFY_KEYS, "measure": MEASURE_KEYS}
    for command, expected in keys.items():
        assert json.loads(cli(command, table, build, "--json")[1]).keys() >= expected
    assert json.loads(cli("inspect", table, "--json")[1]).keys() >= INSPECT_KEYS
    rows = json.loads(cli("compare", table, "--algorithms", "gm,gm-m", "--json")[1])["rows"]
    assert [row["algorithm"] for row in rows] == ["gm", "gm-m"]
    assert all(row.keys() >= BUILD_KEYS for row in rows)


def test_a_build_folder_serves_as_interest_and_edges(cli, build):
    assert cli("verify", build, build)[0] == 0
    assert cli("build", build, "--out", build.with_name("again"), "--quiet")[0] == 0


def test_verify_refuses_an_overlay_with_an_edge_missing(cli, table, build, tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("u,v\na,b\n")
    everything = tmp_path / "all.jsonl"
    code, stdout, _ = cli("verify", table, edges, "--json", "--all", everything)
    found = json.loads(stdout)
    assert code == 1
    assert found["topics_partitioned"] == 1
    assert found["witnesses"] == [{"topic": "y", "component_sizes": [1, 1], "nodes": ["b", "c"]}]
    assert [json.loads(line)["topic"] for line in everything.read_text().splitlines()] == ["y"]
    code, stdout, _ = cli("verify", table, edges)
    assert code == 1
    assert "NOT topic-connected: 1 of 3 topics" in stdout


def test_verify_counts_rows_that_prove_nothing_and_strict_refuses_them(cli, table, tmp_path):
    edges = tmp_path / "edges.tsv"
    edges.write_text("a\tb\nb\tc\nc\tb\nb\tb\nb\tstranger\n")
    code, stdout, _ = cli("verify", table, edges, "--edges-no-header", "--json")
    found = json.loads(stdout)
    assert code == 0
    assert (found["edges"], found["unknown_nodes"], found["self_loops"], found["duplicate_edges"]) == (
        2,
        1,
        1,
        1,
    )
    code, _, stderr = cli("verify", table, edges, "--edges-no-header", "--strict")
    assert code == 2
    assert "stranger" in stderr


def test_a_build_and_another_interest_disagree(cli, build, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("node,topic\na,x\nb,x\n")
    for command in ("verify", "measure"):
        code, _, stderr = cli(command, other, build)
        assert code == 2
        assert str(build) in stderr
        assert str(other) in stderr


def test_measure_leaves_out_and_counts_odd_edges(cli, table, tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("u,v\na,b\nb,c\nb,c\nq,r\n")
    found = json.loads(cli("measure", table, edges, "--json")[1])
    assert (found["edges"], found["unknown_nodes"], found["duplicate_edges"]) == (2, 1, 1)
    assert cli("measure", table, edges, "--strict")[0] == 2


def test_refused_rows_are_kept_with_their_reasons(cli, tmp_path):
    table = tmp_path / "odd.csv"
    table.write_bytes(b"node,topic\na,x\nb,x\n,x\nc\nd,x,y\n\xff,x\n")
    out = tmp_path / "build"
    code, _, stderr = cli("build", table, "--out", out)
    assert code == 1
    assert "rejects.parquet" in stderr
    rejects = pq.read_table(out / "rejects.parquet")
    assert rejects.schema.names == ["file", "row", "reason"]
    assert rejects.num_rows == json.loads((out / "summary.json").read_text())["rejected"] == 4
    code, _, stderr = cli("build", table, "--out", out, "--strict")
    assert code == 2
    assert "odd.csv" in stderr


def test_a_strange_header_is_told_even_when_quiet(cli, tmp_path):
    table = tmp_path / "plain.csv"
    table.write_text("a,x\nb,x\nc,x\n")
    _, _, stderr = cli("build", table, "--out", tmp_path / "build", "--quiet")
    assert "--no-header" in stderr
    assert "a,x" in stderr
    _, stdout, stderr = cli("inspect", table, "--no-header", "--json", "--quiet")
    assert stderr == ""
    assert json.loads(stdout)["nodes"] == 3


def test_bad_input_gets_one_sentence_and_exit_2(cli, table, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    header_only = tmp_path / "header.csv"
    header_only.write_text("node,topic\n")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 not really")
    numbers = tmp_path / "floats.parquet"
    pq.write_table(pa.table({"node": [1.5], "topic": ["x"]}), numbers)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "_SUCCESS").write_text("")
    cases = [
        ([tmp_path / "missing.csv"], "missing.csv"),
        ([empty], "empty.csv"),
        ([header_only], "header.csv"),
        ([broken], "broken.parquet"),
        ([numbers], "node"),
        ([folder], "folder"),
        ([table, "--node-column", "nodule"], "topic"),
        ([table, "--node-column", "7"], "7"),
        ([table, "--separator", "ab"], "--separator"),
        ([tmp_path / "table.xlsx"], "table.xlsx"),
    ]
    for arguments, named in cases:
        code, stdout, stderr = cli("build", *arguments, "--out", tmp_path / "never")
        assert code == 2, arguments
        assert named in stderr, arguments
        assert stderr.startswith("topicloom: "), arguments
        assert stderr.count("\n") == 1, stderr
        assert "Traceback" not in stderr
        assert stdout == ""
    assert not (tmp_path / "never").exists()


def test_bad_usage_gets_one_sentence_and_exit_2(cli, table, tmp_path):
    cases = [
        (["build", table], "--out"),
        (["build"], "INTEREST"),
        (["build", table, "--out", tmp_path / "x", "--algorithm", "best"], "best"),
        (["build", table, "--out", tmp_path / "x", "--set", "redundancy=0"], "redundancy"),
        (["build", table, "--out", tmp_path / "x", "--algorithm", "gm", "--engine", "spark"], "dcbr-m"),
        (["build", table, "--out", tmp_path / "x", "--spark-conf", "memory"], "--spark-conf"),
        (["build", table, "--out", table], "--out"),
        (["compare", table, "--algorithms", "gm,gm"], "--algorithms"),
        (["compare", table, "--plot", tmp_path / "plot.gif"], "plot.gif"),
        (["generate", tmp_path / "x.csv", "--nodes", "5", "--popularity", "pareto"], "pareto"),
        (["generate", tmp_path / "x.csv", "--nodes", "5", "--popularity", "zipf:abc"], "zipf:abc"),
        (["generate", tmp_path / "x.xml", "--nodes", "5", "--popularity", "rss"], ".xml"),
        (["generate", tmp_path / "x.csv", "--nodes", "0"], "--nodes"),
        (["generate", tmp_path / "x.csv", "--nodes", "9", "--topics", "3", "--subscriptions", "4"], "4"),
        (["verify", table], "EDGES"),
        (["no-such-command"], "no-such-command"),
    ]
    for arguments, named in cases:
        code, _, stderr = cli(*arguments)
        assert code == 2, arguments
        assert named in stderr, (arguments, stderr)
        assert stderr.count("\n") == 1, stderr


def test_a_folder_that_is_no_result_is_never_overwritten(cli, table, tmp_path):
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.txt").write_text("years of work")
    code, _, stderr = cli("build", table, "--out", out)
    assert code == 2
    assert "thesis" in stderr
    assert (out / "chapter.txt").read_text() == "years of work"


def test_an_earlier_result_is_replaced_whole(cli, table, build):
    (build / "rejects.parquet").write_bytes(b"of an earlier run")
    assert cli("build", table, "--out", build, "--algorithm", "gm-m", "--quiet")[0] == 0
    assert not (build / "rejects.parquet").exists()
    assert json.loads((build / "summary.json").read_text())["algorithm"] == "gm-m"
    assert [path.name for path in build.parent.iterdir() if path.name.startswith(".")] == []


def test_generated_tables_read_back_the_same(cli, tmp_path):
    digests = set()
    for name in ("w.csv", "w.tsv", "w.parquet"):
        arguments = ["--nodes", "50", "--popularity", "rss", "--subscriptions", "2:6", "--seed", "3"]
        code, stdout, _ = cli("generate", tmp_path / name, *arguments, "--json")
        assert code == 0
        written = json.loads(stdout)
        out = tmp_path / f"{name}-build"
        assert cli("build", tmp_path / name, "--out", out, "--quiet")[0] == 0
        summary = json.loads((out / "summary.json").read_text())
        assert summary["subscriptions"] == written["subscriptions"]
        digests.add(summary["interest_digest"])
    assert len(digests) == 1


def test_compare_keeps_builds_and_a_plot(cli, tmp_path):
    out = tmp_path / "comparison"
    code, stdout, _ = cli("compare", sample_path("autoware"), "--no-header", "--out", out)
    assert code == 0
    assert "ring-pt" in stdout
    assert (out / "degrees.png").read_bytes().startswith(b"\x89PNG")
    assert cli("verify", out / "gm", out / "gm-m")[0] == 0


def test_list_names_every_builder(cli):
    """Every builder has a paragraph with its guarantee, paper, constraints and each parameter."""
    stdout = cli("build", "--list")[1]
    paragraphs = {text.partition(":")[0]: text for text in stdout.strip().split("\n\n")}
    rows = json.loads(cli("build", "--list", "--json")[1])["builders"]
    assert len(rows) == len(paragraphs)
    assert {row["algorithm"] for row in rows} == paragraphs.keys() >= PROMISED_BUILDERS
    for row in rows:
        text = paragraphs[row["algorithm"]]
        facts = [row[key] for key in ("aim", "guarantee", "complexity", "paper")]
        settings = [f"--set {name.removesuffix('_')} " for name in row["parameters"]]
        assert [fact for fact in facts + settings + row["honours"] if fact not in text] == []


def test_identifiers_are_shown_as_they_are(cli, tmp_path):
    """`[/x]` would be a markup error and `[red]` would vanish if the terminal library had its way."""
    table = tmp_path / "table.csv"
    table.write_text("node,topic\na,[/x]\nb,[/x]\na,[red]\nb,[red]\n:smile:,[red]\n")
    code, stdout, _ = cli("inspect", table)
    assert code == 0
    assert "[/x]" in stdout
    edges = tmp_path / "edges.csv"
    edges.write_text("u,v\n")
    code, stdout, _ = cli("verify", table, edges)
    assert code == 1
    assert all(text in stdout for text in ("[/x]", "[red]", ":smile:"))


@pytest.mark.parametrize("name", ["run[1]", "a{b}", "a*", "with space"])
def test_any_folder_name_will_do(cli, table, tmp_path, name):
    assert cli("build", table, "--out", tmp_path / name, "--quiet")[0] == 0
    assert cli("verify", tmp_path / name, tmp_path / name)[0] == 0


def test_roles_and_rates_are_carried_through_a_build(cli, tmp_path):
    """Also where some rows have none: a second reading must find the same interest."""
    table = tmp_path / "table.jsonl"
    table.write_text(
        '{"node": "a", "topic": "x", "role": "pub", "rate": 2.5}\n{"node": "b", "topic": "x"}\n'
        '{"node": "c", "topic": "x", "role": "sub"}\n'
    )
    out = tmp_path / "build"
    assert cli("build", table, "--out", out, "--quiet")[0] == 0
    rows = pq.read_table(out / "interest.parquet").to_pylist()
    assert rows[0] == {"node": "a", "topic": "x", "role": "pub", "rate": 2.5}
    assert [row["rate"] for row in rows[1:]] == [None, None]
    assert cli("measure", out, out)[0] == 0
    again = json.loads(cli("build", out, "--out", tmp_path / "again", "--json")[1])
    assert (again["nodes"], again["rejected"]) == (3, 0)
    only = json.loads(cli("build", table, "--out", out, "--subscribers-only", "--json")[1])
    assert only["nodes"] == 2
