"""The demo is a promise of the README: it must run, prove every overlay, and leave the files it names."""

from __future__ import annotations

import json

from topicloom.cli.main import execute


def test_the_demo_proves_every_overlay_and_draws_them(spark, capsys, tmp_path):
    assert execute(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    names = ["balanced", "gm", "gm-m", "low-oda", "ring-pt"]
    assert [row["algorithm"] for row in result["rows"]] == names * 2
    assert all(row["topic_connected"] for row in result["rows"])
    assert [row["nodes"] for row in result["rows"]] == [2000] * 5 + [230] * 5
    for ours, *others in (result["rows"][:5], result["rows"][5:]):
        for other in others:
            better = other["edges"] <= ours["edges"] and other["degree_max"] <= ours["degree_max"]
            assert not better, f"the demo must not show a default that {other['algorithm']} beats in both"
    assert (tmp_path / "demo" / "degrees.png").read_bytes().startswith(b"\x89PNG")
    page = tmp_path / "demo" / "report.html"
    assert result["report"] == str(page)
    assert page.stat().st_size <= 5_000_000
    for workload in ("rss", "px4"):
        for name in names:
            assert (tmp_path / "demo" / workload / name / "edges.parquet").is_file()
