"""Experiments from end to end at toy sizes: rows, verdicts, page, pictures, what is kept, any engine."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import topicloom.experiments.run as run_module
from topicloom.base.progress import SILENT, Silent
from topicloom.errors import Interrupted, UsageError
from topicloom.experiments.cache import KEPT, Case, Kept
from topicloom.experiments.expect import Near
from topicloom.experiments.model import Experiment, Scale
from topicloom.experiments.page import PAGE
from topicloom.experiments.registry import EXPERIMENTS, find_experiments
from topicloom.experiments.reproduce import reproduce_experiments
from topicloom.experiments.rows import VERDICTS
from topicloom.experiments.tasks.registry import TASKS
from topicloom.tables.spark.spark_choice import SparkChoice

TOYS = {
    "chockler2007a-fig4a": Scale((60, 120), 2, (60,)),
    "chen2010-fig7": Scale((60, 120), 2, (60,)),
    "onus2016-fig1": Scale((30, 60), 2, (30,)),
    "chockler2007b-fig14": Scale((40, 80), 2),
    "zhao2011-fig9": Scale((200, 300), 2, (200,)),
}
"""One experiment of each paper, at a size that takes no time."""


def toy(name: str) -> dict[str, Experiment]:
    return {name: replace(EXPERIMENTS[name], quick=TOYS[name])}


def reproduced(experiments: dict[str, Experiment], out: Path | None, engine: str = "local", **given: Any):
    options = {"full": False, "seed": 1, "machine": "a test", "clock": time.process_time, "progress": SILENT}
    spark = SparkChoice(engine=engine)
    return reproduce_experiments(experiments, out=out, spark=spark, **(options | given))


@pytest.mark.parametrize("name", TOYS)
def test_an_experiment_of_each_paper_from_end_to_end(name, tmp_path):
    """Otherwise a grid, a claim or a drawing of that paper is broken."""
    found, (outcome,) = reproduced(toy(name), tmp_path)
    assert len(found.rows) + len(outcome.left_out) == len(EXPERIMENTS[name].claims)
    assert found.rows and all(row.verdict in VERDICTS and row.reason for row in found.rows)
    assert all(row.command == f"topicloom reproduce {name} --quick --seed 1" for row in found.rows)
    text = (tmp_path / PAGE).read_text()
    assert all(row.claim.replace("|", r"\|") in text for row in found.rows)
    picture = tmp_path / re.search(r"\]\((reproduction/.+?\.svg)\)", text)[1]
    assert picture.read_text().startswith("<svg")
    assert json.loads((tmp_path / "summary.json").read_text())["verdicts"] == found.verdicts


def test_a_planted_wrong_number_differs():
    """Otherwise any number would pass."""
    (name,) = toy("chockler2007a-fig4a")
    experiment = toy(name)[name]
    right, _ = reproduced({name: experiment}, None)
    claim = replace(experiment.claims[0], expected=Near(right.rows[0].ours))
    wrong = replace(claim, expected=Near(right.rows[0].ours * 1.05, rel=0.02), cannot="")
    never = replace(wrong, cannot="it is impossible")
    found, _ = reproduced({name: replace(experiment, claims=(claim, wrong, never))}, None)
    assert [row.verdict for row in found.rows] == list(VERDICTS)
    assert found.rows[2].reason.endswith("it is impossible")
    assert found.verdicts == {"reproduces": 1, "differs": 1, "cannot_hold": 1}


def test_an_interrupted_run_goes_on_where_it_ended(tmp_path, monkeypatch):
    """Otherwise hours of a full run are lost with the last minute."""
    calls: list[int] = []

    def counted(settings, seed, clock):
        calls.append(seed)
        return TASKS["build"](settings, seed, clock)

    monkeypatch.setattr(run_module, "TASKS", {**TASKS, "build": counted})

    class Impatient(Silent):
        def should_stop(self) -> bool:
            return len(calls) == 3

    experiments = toy("chockler2007a-fig4a")
    with pytest.raises(Interrupted):
        reproduced(experiments, tmp_path, progress=Impatient())
    kept = list((tmp_path / KEPT).glob("*.json"))
    assert len(kept) == 3 and not (tmp_path / PAGE).exists()
    kept[0].write_text("half of a fi")
    resumed, _ = reproduced(experiments, tmp_path)
    total = len(calls)
    again, _ = reproduced(experiments, tmp_path)
    assert len(calls) == total == 12 + 1, "twelve builds, and that of the spoilt file once more"
    assert again.rows == resumed.rows == reproduced(experiments, None)[0].rows


def test_what_is_kept_is_of_this_code_seed_and_settings(tmp_path, monkeypatch):
    """Otherwise numbers of an older algorithm would be told as today's."""
    kept, case = Kept(tmp_path), Case("build", {"n": 1}, 0)
    kept.put(case, {"edges": 3.0})
    assert Kept(tmp_path).get(Case("build", {"n": 1}, 0)) == {"edges": 3.0}
    assert Kept(tmp_path).get(Case("build", {"n": 1}, 1)) is None
    assert Kept(tmp_path).get(Case("bound", {"n": 1}, 0)) is None
    monkeypatch.setattr("topicloom.experiments.cache.code_digest", lambda: "another")
    assert Kept(tmp_path).get(case) is None


@pytest.mark.spark
def test_spark_gives_the_same_rows(spark):
    """Otherwise a table depends on the number of cores."""
    experiments = toy("chockler2007a-fig4a")
    here, there = (reproduced(experiments, None, engine)[0].rows for engine in ("local", "spark"))
    assert here == there


def test_names_stand_for_experiments():
    assert list(find_experiments("chockler2007a-fig2")) == ["chockler2007a-fig2"]
    assert set(find_experiments("chockler2007a")) < set(find_experiments("all")) | {""}
    assert find_experiments("all") == EXPERIMENTS
    with pytest.raises(UsageError, match="chockler2007a, chen2010"):
        find_experiments("chockler2007a-fig9")


def test_an_experiment_is_one_file_and_one_line(monkeypatch):
    """What CONTRIBUTING.md says: a file with an EXPERIMENT and a line of the registry are all."""
    experiment = EXPERIMENTS["chockler2007a-lemma66"]
    monkeypatch.setitem(EXPERIMENTS, "onus2016-mine", replace(experiment, quick=Scale((3,), 1), item="Mine"))
    found, _ = reproduced(find_experiments("onus2016-mine"), None)
    assert {(row.paper, row.item) for row in found.rows} == {("Onus2016", "Mine")}
    assert found.left_out == 4


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_what_it_is(name):
    """Claims without a point to measure at full size, or equal names of lines, would show nothing."""
    experiment = EXPERIMENTS[name]
    for full in (False, True):
        runs = list(experiment.runs(experiment.scale(full)))
        places = [(run.line, run.x) for run in runs]
        assert len(set(places)) == len(places)
        assert {run.task for run in runs} <= set(TASKS)
    assert experiment.full.seeds >= experiment.quick.seeds
    texts = [claim.text for claim in experiment.claims]
    assert texts and len(set(texts)) == len(texts)


def test_docs_say_where_every_experiment_is():
    """Otherwise a reader of the papers does not find what was run."""
    docs = Path(__file__).parents[2] / "docs"
    listed = (docs / "papers.md").read_text()
    assert [name for name in EXPERIMENTS if f"`{name}`" not in listed] == []
    named = set(re.findall(r"`((?:chockler2007[ab]|chen2010|onus2016|zhao2011)-\w+)`", listed))
    assert named == set(EXPERIMENTS)


def test_the_page_of_the_docs_has_every_experiment_and_readme_its_counts():
    """After a new experiment or another claim `make docs-reproduction` is due."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "reproduction.md").read_text()
    shown = re.findall(r"^`topicloom reproduce (\S+) --quick`", page, re.MULTILINE)
    assert shown == list(EXPERIMENTS)
    for name, experiment in EXPERIMENTS.items():
        missing = [one.text for one in experiment.claims if one.text.replace("|", r"\|") not in page]
        assert (name, missing) == (name, [])
        assert (root / "docs" / "reproduction" / f"{name}.svg").is_file()
    told = re.search(r"^Of \d+ claims .+$", page, re.MULTILINE)
    assert told is not None and told[0] in (root / "README.md").read_text()
