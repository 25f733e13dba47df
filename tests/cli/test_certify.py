"""`--certify` on build and measure: what is printed and written, and when no gap can be told."""

from __future__ import annotations

import json

from topicloom.cli.main import execute

TABLE = "node,topic\n" + "".join(
    f"n{node},t{topic}\n" for node in range(12) for topic in range(6) if (node * 7 + topic * 5) % 4 < 2
)


def run(capsys, *arguments: str) -> dict:
    execute([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_build_and_measure_tell_the_same_certificate(spark, capsys, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "out"
    table.write_text(TABLE)
    built = run(capsys, "build", str(table), "--out", str(out), "--certify")
    assert built["edges_bound"] <= built["edges"]
    assert built["degree_max_bound"] <= built["degree_max"]
    assert built["gap"] == built["edges"] / built["edges_bound"] - 1
    assert json.loads((out / "summary.json").read_text()) == built
    assert built["seconds"]["total"] >= built["seconds"]["certify"] > 0
    measured = run(capsys, "measure", str(out), str(out), "--certify")
    for key in ("edges_bound", "degree_max_bound", "gap", "degree_max_gap"):
        assert measured[key] == built[key], key
    assert "edges_bound" not in run(capsys, "measure", str(out), str(out))
    execute(["measure", str(out), str(out), "--certify"])
    assert "no topic-connected overlay has fewer than" in " ".join(capsys.readouterr().out.split())


def test_a_split_overlay_has_bounds_but_no_gap(spark, capsys, tmp_path):
    table, edges = tmp_path / "table.csv", tmp_path / "edges.csv"
    table.write_text(TABLE)
    edges.write_text("u,v\nn0,n4\n")
    found = run(capsys, "measure", str(table), str(edges), "--certify")
    assert found["gap"] is None and found["degree_max_gap"] is None
    assert found["edges_bound"] > found["edges"]


def test_a_bound_at_a_given_degree_is_no_bound_for_all(spark, capsys, tmp_path):
    """Four edges suffice here, but not with a maximum degree of 2: that must not be certified as 5."""
    topics = {"n0": "0234", "n1": "03", "n2": "04", "n3": "234", "n5": "023"}
    rows = "".join(f"{node},t{topic}\n" for node, wanted in topics.items() for topic in wanted)
    (tmp_path / "table.csv").write_text(f"node,topic\n{rows}")
    options = ("--algorithm", "exact", "--set", "objective=max-degree", "--certify")
    built = run(capsys, "build", str(tmp_path / "table.csv"), "--out", str(tmp_path / "out"), *options)
    assert built["edges_bound"] <= 4 < built["edges"]
