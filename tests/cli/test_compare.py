"""`topicloom compare` on drawn workloads: settings by builder, means, forms for papers, plots. No Spark."""

from __future__ import annotations

import csv
import io
import json

import pytest

from topicloom import generate
from topicloom.cli.main import execute
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.charts import FrontierDot, frontier_chart
from topicloom.overlay.measures.registry import measure_overlay

DRAWN = ["--nodes", "40", "--topics", "12", "--subscriptions", "4", "--popularity", "zipf:0.5"]


@pytest.fixture
def compare(capsys):
    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute(["compare", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_means_are_those_of_the_seeds_and_every_row_has_its_hops_and_splits(compare, tmp_path):
    words = ["--algorithms", "gm,ring-pt", "--set", "gm:redundancy=2", "--seeds", 3, "--seed", 5]
    code, out, _ = compare(*DRAWN, *words, "--out", tmp_path / "c", "--json")
    found = json.loads(out)
    assert code == 0 and [row["seed"] for row in found["rows"]] == [5, 5, 6, 6, 7, 7]
    for row in found["rows"]:
        interest = generate(40, 12, 4, "zipf:0.5", seed=row["seed"])
        own = {"redundancy": 2} if row["algorithm"] == "gm" else {}
        built = run_builder(row["algorithm"], interest, seed=row["seed"], **own)
        judged = measure_overlay(interest, built.overlay)
        hops = ("diameter_topic_max", "hops_mean", "hops_p95")
        for key in ("edges", "degree_max", *hops, "splits_avg", "splits_max", "bridges"):
            assert row[key] == judged[key]
    for mean in found["means"]:
        edges = [row["edges"] for row in found["rows"] if row["algorithm"] == mean["algorithm"]]
        assert mean["seeds"] == [5, 6, 7] and mean["edges"]["mean"] == pytest.approx(sum(edges) / 3)
        assert mean["edges"]["low"] <= mean["edges"]["mean"] <= mean["edges"]["high"]
    kept = {path.name for path in (tmp_path / "c").iterdir()}
    names = {f"{name}-{seed}" for name in ("gm", "ring-pt") for seed in (5, 6, 7)}
    assert kept == names | {"summary.json", "degrees.png", "hops.png", "splits.png"}
    assert json.loads((tmp_path / "c" / "summary.json").read_text())["means"] == found["means"]
    assert (
        compare(*DRAWN, "--algorithms", "gm", "--out", tmp_path / "c")[0] == 0
    )  # an earlier one is replaced


def test_tables_for_papers(compare):
    words = [*DRAWN, "--algorithms", "gm,2d-oda", "--output-format"]
    (row, other) = csv.DictReader(io.StringIO(compare(*words, "csv")[1]))
    assert (row["algorithm"], row["topic_connected"]) == ("gm", "true")
    assert int(other["diameter_topic_max"]) <= 2 < float(row["hops_mean"]) + 2
    lines = compare(*words, "markdown")[1].splitlines()
    assert lines[0].startswith("| builder | edges | average degree |")
    assert {line.count("|") for line in lines} == {13} and len(lines) == 4
    latex = compare(*words, "latex")[1]
    assert latex.startswith(r"\begin{tabular}{lrrrrrrrrrrl}") and r"95\% up to" in latex
    several = compare(*words, "latex", "--seeds", 2)[1]
    assert several.count(r"\pm") == 20
    shown = compare(*DRAWN, "--algorithms", "gm,2d-oda")[1]
    assert "mean" in shown and "95%" in shown
    assert "±" in compare(*DRAWN, "--algorithms", "gm", "--seeds", 2)[1]


@pytest.mark.slow
def test_a_frontier_is_drawn_as_pdf_too(compare, tmp_path):
    plots = [
        "--frontier-plot",
        tmp_path / "f.pdf",
        "--hops-plot",
        tmp_path / "h.pdf",
        "--plot",
        tmp_path / "d.pdf",
    ]
    code, out, _ = compare(*DRAWN, "--algorithms", "balanced", "--frontier", *plots, "--json")
    points = json.loads(out)["frontier"]
    assert code == 0 and all((tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF") for name in "fhd")
    assert (points[0]["max_degree"], points[0]["max_hops"]) == ("auto", "auto")
    assert points[-1]["max_hops"] == "none" and points[-1]["edges"] <= points[0]["edges"]
    assert {"max_degree", "max_hops"} <= {key for one in points[1:] for key in one if one[key] != "auto"}


def test_the_line_of_a_frontier_goes_through_the_builds_that_none_beats():
    dots = [FrontierDot(9, 4, 6, "a", "1"), FrontierDot(8, 5, None, "a", "2"), FrontierDot(9, 5, 7, "b", "3")]
    panels = frontier_chart([*dots, dots[0]], "t").to_dict()["hconcat"]
    rows = [panel["layer"][1]["data"]["values"] for panel in panels]
    assert [(row["label"], row["best"]) for row in rows[0]] == [("1, 1", True), ("2", True), ("3", False)]
    assert [row["x"] for row in rows[1]] == [6, 7]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([*DRAWN, "--set", "work=1"], "--set work=1: write it as BUILDER:key=value"),
        ([*DRAWN, "--set", "star:work=1"], "star is none of the builders compared"),
        ([*DRAWN, "--set", "gm:nonsense=1"], "nonsense"),
        (["table.csv", *DRAWN], "exclude each other"),
        (["table.csv", "--seeds", "3"], "--seeds is for drawn workloads"),
        ([*DRAWN, "--seeds", "1"], "--seeds"),
        ([*DRAWN, "--output-format", "word"], "table, csv, markdown, latex"),
        ([*DRAWN, "--frontier-plot", "f.pdf"], "goes with --frontier"),
        ([*DRAWN, "--hops-plot", "f.gif"], "f.gif"),
        ([*DRAWN, "--seeds", "2", "--report", "r.html"], "--report goes without --seeds"),
        ([], "INTEREST is missing"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(compare, words, named):
    code, out, err = compare(*words)
    assert code == 2 and not out and named in err and err.count("\n") == 1
