"""`topicloom reproduce` at the prompt: names, refusals, the page about somebody's own table."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "my shop.csv"
    path.write_text(
        "node,topic\n" + "".join(f"n{n},t{t}\n" for n in range(9) for t in range(4) if (n + t) % 3)
    )
    return path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["chockler2007a-fig99"], "chockler2007a-fig99 is neither an experiment nor a table; `topicloom"),
        ([], "NAME is missing; name an experiment (see --list), a paper, all, or a table"),
        (["all", "--quick", "--full"], "--quick and --full exclude each other: give one of them"),
        (["all", "--algorithms", "gm"], "--algorithms is for a table; an experiment has its own builders"),
        (["all", "--engine", "fast"], "--engine fast: it is one of auto, local, spark"),
    ],
)
def test_refusals_are_one_sentence(cli, words, told):
    code, printed, said = cli("reproduce", *words)
    assert code == 2 and not printed
    assert said.startswith(f"topicloom: {told}") and said.count("\n") == 1


def test_another_result_is_not_written_over(cli, shop, tmp_path):
    """Otherwise the summary of a build would be lost."""
    out = tmp_path / "build"
    assert cli("build", shop, "--algorithm", "gm", "--engine", "local", "--out", out)[0] == 0
    before = (out / "summary.json").read_bytes()
    code, _, said = cli("reproduce", "chockler2007a-lemma66", "--out", out)
    assert code == 2 and said == f"topicloom: --out {out} holds another result; name another folder\n"
    assert (out / "summary.json").read_bytes() == before
    code, _, said = cli("reproduce", "chockler2007a-lemma66", "--out", shop)
    assert code == 2 and "is a file; name a folder" in said


def test_a_table_gets_a_page_for_papers(cli, shop, tmp_path):
    out = tmp_path / "out"
    code, printed, _ = cli("reproduce", shop, "--algorithms", "gm,ring-pt", "--engine", "local", "--out", out)
    page = (out / "comparison.md").read_text()
    assert code == 0 and page.strip() == printed.strip()
    assert "| gm |" in page and r"\begin{tabular}" in page and "has at least" in page
    assert f"`topicloom reproduce '{shop}' --algorithms gm,ring-pt --seed 0`" in page
    code, _, said = cli("reproduce", shop, "--full")
    assert code == 2 and "--full is for experiments" in said


def test_the_list_and_a_small_experiment(cli, tmp_path):
    code, printed, _ = cli("reproduce", "--list", "--json")
    names = [one["name"] for one in json.loads(printed)["experiments"]]
    assert code == 0 and "chockler2007a-lemma66" in names
    words = ("--engine", "local", "--out", tmp_path / "out", "--json")
    code, printed, _ = cli("reproduce", "chockler2007a-lemma66", *words)
    rows = json.loads(printed)["rows"]
    assert code == 0 and [row["verdict"] for row in rows] == ["reproduces"] * 6
    keys = ["paper", "item", "claim", "printed", "ours", "interval", "verdict", "reason", "command"]
    assert all(list(row) == keys for row in rows)
