"""`topicloom content plan` and `content cost` as a user meets them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import content_tables
from topicloom.content.model.problem_folder import read_problem
from topicloom.content.model.tables import ACCESS, BROKERS, CORE, RATES
from topicloom.content.planners.registry import DEFAULT, PLANNERS

KEYS = [
    "format",
    "kind",
    "algorithm",
    "parameters",
    "seed",
    "users",
    "brokers",
    "channels",
    "cost",
    "access_cost",
    "core_cost",
    "core_share",
    "density",
    "overflow",
    "crr",
    "bound",
    "seconds",
]


@pytest.fixture(scope="module")
def problem(tmp_path_factory, module_cli):
    folder = tmp_path_factory.mktemp("content") / "problem"
    code, _, err = module_cli(
        "content", "generate", folder, "--users", 60, "--brokers", 4, "--channels", 12, "--ratio", 0.2,
        "--width", 0.2, "--quiet",
    )  # fmt: skip
    assert code == 0, err
    return folder


@pytest.fixture(scope="module")
def module_cli():
    """Run a command in this process; gives exit code, stdout and stderr."""
    import contextlib
    import io

    from topicloom.cli.main import execute

    def run(*arguments: object) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = execute([str(argument) for argument in arguments])
        return code, out.getvalue(), err.getvalue()

    return run


@pytest.mark.parametrize("algorithm", [name for name in PLANNERS if name != "exact"])
def test_a_plan_is_written_and_cost_agrees(module_cli, problem, tmp_path, algorithm):
    """The promised files and keys; `content cost` of the plan must print the plan's own figures."""
    out = tmp_path / "plan"
    code, printed, err = module_cli(
        "content", "plan", problem, "--algorithm", algorithm, "--out", out, "--json"
    )
    assert code == 0, err
    summary = json.loads(printed)
    assert set(KEYS) <= set(summary) and summary["kind"] == "content-plan"
    written = json.loads((out / "summary.json").read_text())
    assert {key: written[key] for key in KEYS if key != "seconds"} == {
        key: summary[key] for key in KEYS if key != "seconds"
    }
    assert summary["cost"] == pytest.approx(summary["access_cost"] + summary["core_cost"])
    assert 0 < summary["bound"] <= summary["cost"] * (1 + 1e-9)
    assignment = pq.read_table(out / "assignment.parquet")
    assert assignment.column_names == ["user", "broker"] and assignment.num_rows == 60
    trees = pq.read_table(out / "trees.parquet")
    assert trees.column_names == ["broker", "channel", "a", "b"]
    code, printed, err = module_cli("content", "cost", problem, out, "--json")
    assert code == 0, err
    judged = json.loads(printed)
    for key in ("cost", "access_cost", "core_cost", "density", "crr", "bound", "overflow"):
        assert judged[key] == pytest.approx(summary[key]), key


def test_trees_price_the_core_cost(module_cli, problem, tmp_path):
    """A reader of trees.parquet with the rates and prices at hand must come to the same core cost."""
    out = tmp_path / "plan"
    code, printed, _ = module_cli("content", "plan", problem, "--out", out, "--set", "work=1", "--json")
    assert code == 0
    read = read_problem(problem, print)
    broker_of = dict(zip(*pq.read_table(out / "assignment.parquet").to_pydict().values(), strict=True))
    sent: dict[tuple[str, int], float] = {}
    for user, name in enumerate(read.users.to_pylist()):
        for k in range(read.rate_ptr[user], read.rate_ptr[user + 1]):
            key = broker_of[name], int(read.rate_channels[k])
            sent[key] = sent.get(key, 0.0) + read.rates[k]
    number = {name: place for place, name in enumerate(read.brokers.to_pylist())}
    rows = pq.read_table(out / "trees.parquet").to_pylist()
    total = sum(
        sent[row["broker"], row["channel"]] * read.core[number[row["a"]], number[row["b"]]] for row in rows
    )
    assert total == pytest.approx(json.loads(printed)["core_cost"])


def test_what_a_person_reads_begins_with_core_share_and_density(module_cli, problem):
    code, printed, _ = module_cli("content", "plan", problem, "--set", "work=1")
    lines = printed.splitlines()
    assert code == 0
    assert lines[0].startswith("core share") and lines[1].startswith("density")
    assert any("within" in line or "times the optimum" in line for line in lines)


def test_cost_reads_tables_of_others(cli, problem, tmp_path):
    """A CSV file in any order of rows is an assignment too; unknown, missing and doubled users are named."""
    read = read_problem(problem, print)
    users, brokers = read.users.to_pylist(), read.brokers.to_pylist()
    rows = [f"{user},{brokers[k % 4]}" for k, user in enumerate(users)]
    table = tmp_path / "today.csv"

    def judged(lines):
        table.write_text("\n".join(["user,broker", *lines]) + "\n")
        return cli("content", "cost", problem, table, "--json", "--quiet")

    code, printed, err = judged(rows[::-1])
    assert code == 0, err
    pq.write_table(
        pa.table({"user": users, "broker": [brokers[k % 4] for k in range(60)]}), tmp_path / "today.parquet"
    )
    again = cli("content", "cost", problem, tmp_path / "today.parquet", "--json", "--quiet")
    assert json.loads(again[1])["cost"] == json.loads(printed)["cost"]
    code, _, err = judged(rows[1:])
    assert code == 2 and f"no broker for user {users[0]!r}" in err
    code, _, err = judged([*rows, rows[3]])
    assert code == 2 and "more than once" in err
    code, _, err = judged([*rows[1:], f"{users[0]},nowhere"])
    assert code == 2 and "nowhere" in err


@pytest.mark.spark
def test_cost_reads_a_query_as_it_stands(module_cli, spark, problem):
    """A path would make one slash of two, and so another text of the query."""
    read = read_problem(problem, print)
    rows = ", ".join(f"('{user}', 'a//b')" for user in read.users.to_pylist())
    query = f"sql:SELECT * FROM VALUES {rows} AS t(user, broker)"
    code, _, err = module_cli("content", "cost", problem, query)
    assert code == 2 and "a//b" in err and "Traceback" not in err
    # Nor may it be too long for a path.
    code, _, err = module_cli("content", "cost", problem, f"sql:SELECT 'u' user, '{'x' * 300}' broker")
    assert code == 2 and "too long" not in err and "x' broker" in err


def test_an_assignment_that_does_not_fit_exits_1(module_cli, problem, tmp_path):
    read = read_problem(problem, print)
    table = pa.table({"user": read.users, "broker": [read.brokers[0].as_py()] * 60})
    pq.write_table(table, tmp_path / "all-on-one.parquet")
    code, printed, err = module_cli("content", "cost", problem, tmp_path / "all-on-one.parquet", "--json")
    found = json.loads(printed)
    assert code == 1 and "does not fit" in err
    assert found["overflow"] == pytest.approx(read.demand.sum() - read.capacity[0])
    assert found["gap"] is None


def test_whoever_used_the_search_is_not_told_to_use_it(module_cli, tmp_path):
    """Two users of demand 4 do not fit on brokers of 6 and 2, whatever the algorithm."""
    folder = content_tables.write(tmp_path, {BROKERS: [("x", 6.0), ("y", 2.0)], RATES: [("i", 0, 4.0)]})
    for algorithm in ("random", DEFAULT):
        code, _, err = module_cli("content", "plan", folder, "--algorithm", algorithm)
        assert code == 1 and ("try --algorithm" in err) == (algorithm != DEFAULT)


def test_a_plan_that_avoids_dear_core_links_does_not_call_them_unimportant(module_cli, tmp_path):
    """All users on one broker: the plan has no core cost because a link between brokers is dear."""
    folder = content_tables.write(tmp_path, {CORE: [("x", "y", 70.0)]})
    code, printed, _ = module_cli("content", "plan", folder)
    assert code == 0 and printed.startswith("core share 0.0%: this plan keeps off the links between brokers")
    folder = content_tables.write(tmp_path, {CORE: [("x", "y", 0.0)]})
    _, printed, _ = module_cli("content", "plan", folder)
    assert printed.startswith("core share 0.0%: links between brokers hardly matter")


def test_a_plan_for_nothing_has_no_ratio(module_cli, tmp_path):
    """Where only random plans cost anything no number says how much less a plan costs."""
    prices = [("i", "x", 0.0), ("i", "y", 2.0), ("j", "x", 0.0), ("j", "y", 4.0)]
    folder = content_tables.write(tmp_path, {ACCESS: prices})
    code, printed, _ = module_cli("content", "plan", folder, "--json")
    found = json.loads(printed)
    assert code == 0 and found["cost"] == 0 and found["random_cost"] > 0 and found["crr"] is None
    code, printed, _ = module_cli("content", "plan", folder)
    assert code == 0 and "random plans cost " in printed and "times as much" not in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--algorithm", "magic"], "choose one of"),
        (["--core-model", "magic"], "choose one of free, shared, unicast"),
        (["--time-limit", "0"], "above 0"),
        (["--set", "heat=3"], "does not know 'heat'"),
        (["--algorithm", "exact"], "local-search"),
    ],
)
def test_bad_options_are_one_sentence(module_cli, problem, options, words):
    code, printed, err = module_cli("content", "plan", problem, *options)
    assert code == 2 and not printed
    assert words in err and len(err.strip().splitlines()) == 1


def test_only_a_plan_is_replaced(module_cli, problem, tmp_path):
    out = tmp_path / "mine"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    code, _, err = module_cli("content", "plan", problem, "--algorithm", "random", "--out", out)
    assert code == 2 and "holds something else" in err
    assert (out / "thesis.txt").exists()
    code, _, err = module_cli("content", "plan", problem, "--algorithm", "random", "--out", problem)
    assert code == 2 and (problem / "channels.parquet").exists()


def test_list_names_all_with_the_default_first(module_cli):
    code, printed, _ = module_cli("content", "plan", "--list")
    assert code == 0 and printed.startswith(DEFAULT)
    assert all(name in printed for name in PLANNERS)


def test_core_models_are_ordered_as_they_should_be(module_cli, problem, tmp_path):
    """The same assignment: the best trees cost least, one tree for all and single messages more."""
    out = tmp_path / "plan"
    module_cli("content", "plan", problem, "--algorithm", "greedy-packing", "--out", out, "--quiet")
    costs = {}
    for model in ("steiner", "free", "shared", "unicast"):
        _, printed, _ = module_cli("content", "cost", problem, out, "--core-model", model, "--json")
        costs[model] = json.loads(printed)["core_cost"]
    assert costs["steiner"] <= costs["free"] <= min(costs["shared"], costs["unicast"]) * (1 + 1e-9)
    assert not np.isclose(costs["free"], costs["unicast"])


def test_a_user_that_is_too_much_for_every_broker_is_named(module_cli, problem, tmp_path):
    """Enough capacity in all, but not for one user: the plan is made, and who it is must be said."""
    folder = tmp_path / "many-small"
    folder.mkdir()
    for path in problem.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    read = read_problem(problem, print)
    names = [f"s{k:03}" for k in range(200)]
    small = pa.table({"broker": names, "capacity": np.full(200, read.demand.max() * 0.9)})
    pq.write_table(small, folder / "brokers.parquet")
    places = pq.read_table(folder / "coordinates.parquet").to_pylist()
    users = [row for row in places if row["kind"] == "user"]
    scale = next(row["scale"] for row in places if row["kind"] == "broker")
    brokers = [{"kind": "broker", "id": name, "x": 0.5, "y": 0.5, "scale": scale} for name in names]
    pq.write_table(pa.Table.from_pylist(users + brokers), folder / "coordinates.parquet")
    code, _, err = module_cli("content", "plan", folder, "--algorithm", "greedy-packing")
    giant = read.users[int(np.argmax(read.demand))].as_py()
    assert code == 1
    assert f"no plan fits: user {giant!r} alone" in err
