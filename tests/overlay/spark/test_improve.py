"""Regions on Spark must become what one process makes of them, however tables are cut; bad input is told."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import topicloom
from naive.overlays import overlay_on, random_interest
from naive.regions import dealt_regions, improve_regions
from topicloom.cli.main import execute
from topicloom.errors import InputError, UsageError
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.spark.improve import Dealing

INTEREST = random_interest(300, 20, 4, seed=5)
# Nodes of different sizes: some are bulk. The groups are those of another seed than that of the search.
UNEVEN = Interest.from_arrow(INTEREST.to_arrow().slice(0, 1100))
BUILT = topicloom.build(UNEVEN, "dcbr-m", kernel_nodes=90, seed=2)
GROUPS = BUILT.report["groups"]


def rows_of(overlay) -> list[tuple[str, str]]:
    table = overlay.to_arrow()
    return list(zip(table["u"].to_pylist(), table["v"].to_pylist(), strict=True))


def numbered(interest, frame) -> list[tuple[int, int]]:
    number = {name: place for place, name in enumerate(interest.node_ids.to_pylist())}
    return sorted((number[row["u"]], number[row["v"]]) for row in frame.collect())


@pytest.mark.parametrize("partitions", [1, 7])
@pytest.mark.parametrize("overlay", [BUILT.overlay, topicloom.build(UNEVEN, "gm").overlay])
def test_the_edges_are_those_of_one_process_whatever_the_partitions(spark, partitions, overlay):
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    session.conf.set("spark.sql.ansi.enabled", str(partitions == 1).lower())
    wants = session.createDataFrame(UNEVEN.to_pandas()).repartition(partitions)
    # Ends in either order, rows twice, loops: none of them counts.
    loop = (UNEVEN.node_ids[0].as_py(),) * 2
    rows = [*(pair[::-1] for pair in rows_of(overlay)), *rows_of(overlay)[:9], loop]
    edges = session.createDataFrame(rows, "u string, v string").repartition(partitions)
    found = topicloom.spark.improve(wants, edges, rounds=3, kernel_nodes=90, seed=2)
    region = dealt_regions(UNEVEN, found.summary.report["regions"], seed=2)
    expected = improve_regions(UNEVEN, overlay, region, rounds=3, seed=2)
    assert found.summary.report["regions"] > 1
    assert numbered(UNEVEN, found.edges) == expected
    summary, here = found.summary, overlay_on(UNEVEN, expected)
    assert (summary.edges, summary.degree_max) == (len(expected), here.degrees().max())
    assert summary.edges <= overlay.n_edges == summary.report["edges_start"]
    assert summary.degree_max <= overlay.degrees().max() == summary.report["degree_start"]
    assert check_overlay(UNEVEN, here).topic_connected and summary.topic_connected
    assert topicloom.spark.verify(wants, found.edges).topic_connected


def test_a_build_is_improved_within_its_own_groups_and_then_again(spark, tmp_path, capsys):
    BUILT.save(tmp_path / "built")
    assert Dealing.of("dcbr-m", 2, BUILT.report) == Dealing(2, GROUPS, BUILT.report["eta"])
    before = "built"
    for name in ("first", "second"):
        words = [str(tmp_path / before)] * 2
        options = ("--engine", "spark", "--seed", "4", "--rounds", "5", "--json", "--certify")
        assert execute(["improve", *words, "--out", str(tmp_path / name), *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["report"]["regions"], found["report"]["regions_seed"]) == (GROUPS, 2)
        assert found["engine"] == "spark" and found["edges_bound"] <= found["edges"]
        before = name
    region = dealt_regions(UNEVEN, GROUPS, seed=2)
    expected = improve_regions(UNEVEN, BUILT.overlay, region, rounds=5, seed=4)
    first = topicloom.load_build(tmp_path / "first").overlay
    assert sorted(zip(first.u.tolist(), first.v.tolist(), strict=True)) == expected
    assert len(expected) < BUILT.overlay.n_edges
    # What is whole is not made again; another request is told apart.
    out = ["improve", *[str(tmp_path / "built")] * 2, "--out", str(tmp_path / "first"), "--engine", "spark"]
    assert execute([*out, "--seed", "4", "--rounds", "5", "--certify", "--resume"]) == 0
    assert "whole already" in capsys.readouterr().err
    assert execute([*out, "--seed", "4", "--rounds", "6", "--certify", "--resume"]) == 2


def test_a_split_overlay_is_refused_before_anything_is_written(spark, tmp_path, capsys):
    table, edges, out = tmp_path / "t.csv", tmp_path / "e.csv", tmp_path / "out"
    table.write_text("node,topic\na,x\nb,x\nc,x\nc,y\nd,y\n")
    edges.write_text("u,v\na,b\nc,d\n")
    words = ["improve", str(table), str(edges), "--engine", "spark", "--out", str(out)]
    assert execute(words) == 2
    told = capsys.readouterr().err
    assert re.search(r"e\.csv leaves 1 topic of 2 split: on Spark only a topic-connected overlay", told)
    assert "--resume" not in told  # it would be refused again
    assert not out.exists()
    edges.write_text("u,v\na,b\nb,c\nc,d\na,q\nq,q\n")
    assert execute(words) == 0
    captured = capsys.readouterr()
    assert "e.csv: 2 rows name a node that is not in the interest: left out" in captured.err
    assert "3 edges before, 3 now" in captured.out and "proved" in captured.out
    assert execute([*words, "--strict"]) == 2
    assert "e.csv holds 2 unknown nodes; without --strict they are left out" in capsys.readouterr().err


def test_a_size_that_is_asked_for_makes_smaller_regions_than_the_groups(spark, tmp_path, capsys):
    """Whoever ran out of memory is told to make groups smaller: so that must help."""
    BUILT.save(tmp_path / "built")
    words = ["improve", *[str(tmp_path / "built")] * 2, "--engine", "spark", "--rounds", "1", "--json"]
    regions = []
    for size in (30, 10**6):
        out = ("--out", str(tmp_path / str(size)), "--kernel-nodes", str(size))
        assert execute([*words, *out]) == 0
        regions.append(json.loads(capsys.readouterr().out)["report"]["regions"])
    assert regions == [-(-BUILT.report["light"] // 30), GROUPS] and regions[0] > GROUPS
    expected = improve_regions(
        UNEVEN, BUILT.overlay, dealt_regions(UNEVEN, regions[0], seed=2), rounds=1, seed=0
    )
    small = topicloom.load_build(tmp_path / "30").overlay
    assert sorted(zip(small.u.tolist(), small.v.tolist(), strict=True)) == expected


def test_strict_holds_for_what_an_earlier_run_let_pass(spark, tmp_path, capsys, monkeypatch):
    from pyspark.errors import PySparkException

    table, edges = tmp_path / "t.csv", tmp_path / "e.csv"
    table.write_text("node,topic\na,x\nb,x\nc,x\n")
    edges.write_text("u,v\na,b\nb,c\na,q\n")
    words = ["improve", str(table), str(edges), "--engine", "spark", "--out", str(tmp_path / "out")]

    def full(*_):
        raise PySparkException("No space left on device")

    def told(*options: str, code: int) -> str:
        assert execute([*words, *options]) == code
        return capsys.readouterr().err

    with monkeypatch.context() as patched:
        patched.setattr("topicloom.overlay.spark.improve.polish_cap", full)
        assert "goes on with them" in told(code=2)
    refused = told("--resume", "--strict", code=2)
    assert "e.csv holds 1 unknown nodes" in refused and "goes on with them" not in refused
    passed = told("--resume", code=0)
    assert "going on after: ingest, given, split" in passed
    assert "e.csv: 1 row names a node that is not in the interest: left out" in passed
    assert "a finished build of another request" in told("--resume", "--strict", code=2)


def test_a_passing_failure_of_spark_keeps_what_was_finished(spark, tmp_path, capsys, monkeypatch):
    from pyspark.errors import PySparkException

    BUILT.save(tmp_path / "built")
    words = ["improve", *[str(tmp_path / "built")] * 2, "--engine", "spark", "--rounds", "1"]
    words += ["--out", str(tmp_path / "out")]

    def full(*_):
        raise PySparkException("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("topicloom.overlay.spark.improve.count_left_out", full)
        assert execute(words) == 2
    told = capsys.readouterr().err
    assert "no space is left on the disk" in told and "with --resume goes on with them" in told
    assert execute([*words, "--resume"]) == 0
    assert "going on after: ingest" in capsys.readouterr().err


def test_strict_does_not_throw_away_what_an_earlier_run_has_read(spark, tmp_path, capsys, monkeypatch):
    from pyspark.errors import PySparkException

    table, edges = tmp_path / "t.csv", tmp_path / "e.csv"
    table.write_text("node,topic\na,x\nb,x\nc,x\n")
    edges.write_text("u,v\na,b\nb,c\na,q\n")
    words = ["improve", str(table), str(edges), "--engine", "spark", "--out", str(tmp_path / "out")]

    def full(*_):
        raise PySparkException("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("topicloom.overlay.spark.improve.count_left_out", full)
        assert execute(words) == 2
    assert execute([*words, "--resume", "--strict"]) == 2
    assert "e.csv holds 1 unknown nodes" in capsys.readouterr().err
    assert execute([*words, "--resume"]) == 0
    assert "going on after: ingest" in capsys.readouterr().err


def test_a_failure_with_edges_of_a_frame_leaves_nothing_as_nobody_could_resume_it(
    spark, tmp_path, capsys, monkeypatch
):
    from pyspark.errors import PySparkException

    def full(*_):
        raise PySparkException("No space left on device")

    wants = spark.createDataFrame([("a", "x"), ("b", "x")], ["node", "topic"])
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr("topicloom.overlay.spark.improve.polish_cap", full)
        with pytest.raises(InputError, match="no space is left"):
            topicloom.spark.improve(wants, [("a", "b")], out=str(out))
    assert not out.exists() and "resume" not in capsys.readouterr().err
    assert topicloom.spark.improve(wants, [("a", "b")], out=str(out)).summary.edges == 1


def test_what_cannot_be_forgotten_does_not_hide_why_edges_are_refused(spark, tmp_path, capsys, monkeypatch):
    table, edges = tmp_path / "t.csv", tmp_path / "e.csv"
    table.write_text("node,topic\na,x\nb,x\nc,x\n")
    edges.write_text("u,v\na,b\n")

    def gone(_):
        raise InputError("the place is gone")

    monkeypatch.setattr("topicloom.overlay.model.run_folder.RunFolder.forget", gone)
    words = ["improve", str(table), str(edges), "--engine", "spark", "--out", str(tmp_path / "out")]
    assert execute(words) == 2
    told = capsys.readouterr().err
    assert "leaves 1 topic of 1 split" in told and "the place is gone" not in told


def test_a_search_in_memory_does_not_resume_what_spark_improved(spark, tmp_path, capsys):
    table, edges, out = tmp_path / "t.csv", tmp_path / "e.csv", tmp_path / "out"
    table.write_text("node,topic\na,x\nb,x\nc,x\n")
    edges.write_text("u,v\na,b\nb,c\n")
    words = ["improve", str(table), str(edges), "--out", str(out), "--rounds", "1"]
    assert execute([*words, "--engine", "spark"]) == 0
    capsys.readouterr()
    assert execute([*words, "--engine", "local", "--resume"]) == 2
    told = capsys.readouterr().err
    assert "was improved with --engine spark: name it as EDGES, without --resume" in told
    assert execute(["improve", str(table), str(out), "--out", str(out), "--rounds", "1"]) == 0


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--objective", "max-degree"), "only --objective edges"),
        (("--survive", "1"), "--survive 1 needs the whole overlay in memory"),
        (("--extra-edges", "5%"), "needs the whole overlay"),
        (("--max-hops", "auto"), "only --max-hops none"),
        (("--max-degree", "7"), "needs the whole overlay"),
        (("--max-edges", "9"), "needs the whole overlay"),
        (("--time-limit", "5"), "the search ends by --rounds"),
        (("--time-limit", "60"), "the search ends by --rounds"),
        (("--threads", "2"), "--threads 2: with --engine spark the cores are Spark's"),
        (("--caps", "caps.csv"), "--caps needs the interest in memory"),
        (("--rtt", "rtt.csv"), "--rtt needs the interest in memory"),
    ],
)
def test_what_spark_does_not_know_is_refused_in_one_sentence(tmp_path, capsys, option, told):
    table = tmp_path / "t.csv"
    table.write_text("node,topic\na,x\nb,x\n")
    words = ["improve", str(table), str(table), "--engine", "spark", "--out", str(tmp_path / "out")]
    assert execute([*words, *option]) == 2
    error = capsys.readouterr().err
    assert told in error and len(error.splitlines()) == 1


def test_regions_have_a_size_on_spark_only(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("node,topic\na,x\nb,x\n")
    words = ["improve", str(table), str(table), "--out", str(tmp_path / "out"), "--kernel-nodes", "9"]
    assert execute(words) == 2
    assert "--engine spark makes" in capsys.readouterr().err


def test_arguments_and_edges_of_python_are_judged(spark):
    wants = spark.createDataFrame([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")], ["node", "topic"])
    with pytest.raises(UsageError, match="rounds"):
        topicloom.spark.improve(wants, [("a", "b")], rounds=-1)
    with pytest.raises(UsageError, match="kernel_nodes"):
        topicloom.spark.improve(wants, [("a", "b")], kernel_nodes=0)
    with pytest.raises(InputError, match="leaves 1 topic of 2 split"):
        topicloom.spark.improve(wants, [("a", "b")])
    found = topicloom.spark.improve(wants, [("a", "b"), ("b", "c"), ("a", "c")])
    assert sorted(map(tuple, found.edges.collect())) == [("a", "b"), ("b", "c")]
    assert found.summary.edges == 2 and found.rejects is None
    assert np.isclose(found.summary.degree_avg, 4 / 3)
    with pytest.raises(UsageError, match="`resume` needs edges in files: the DataFrame of"):
        topicloom.spark.improve(wants, found.edges, out="out", resume=True)
