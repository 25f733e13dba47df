"""The demo is a promise of the README: it must run, prove every overlay, and leave the files it names."""

from __future__ import annotations

import json

from topicloom.cli.main import execute


def test_the_demo_proves_every_overlay_and_draws_them(spark, capsys, tmp_path):
    assert execute(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["algorithm"] for row in result["rows"]] == ["gm", "gm-m", "ring-pt"] * 2
    assert all(row["topic_connected"] for row in result["rows"])
    assert (result["rows"][0]["nodes"], result["rows"][3]["nodes"]) == (2000, 230)
    assert (tmp_path / "demo" / "degrees.png").read_bytes().startswith(b"\x89PNG")
    for workload in ("rss", "px4"):
        for name in ("gm", "gm-m", "ring-pt"):
            assert (tmp_path / "demo" / workload / name / "edges.parquet").is_file()
