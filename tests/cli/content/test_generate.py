"""`topicloom content generate` as a user meets it."""

from __future__ import annotations

import json

import pytest

from topicloom.cli.main import execute
from topicloom.content.model.problem_folder import read_problem
from topicloom.content.model.tables import ACCESS, COORDINATES
from topicloom.content.workload import generate_content


@pytest.fixture
def cli(capsys):
    """Run a command in this process, without Spark; gives exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def options(*, users=40, brokers=3, channels=6):
    return "--users", users, "--brokers", brokers, "--channels", channels


@pytest.mark.parametrize("model", ["plane", "iid"])
def test_the_folder_holds_the_drawn_problem_and_the_report_its_figures(cli, tmp_path, model):
    out = tmp_path / "problem"
    chosen = ("--model", model, "--ratio", 0.5, "--width", 0.2, "--seed", 9, "--json", "--quiet")
    code, printed, err = cli("content", "generate", out, *options(), *chosen)
    assert code == 0 and not err
    report = json.loads(printed)
    problem = read_problem(out, print)
    drawn = generate_content(40, 3, 6, model, 0.5, 0.2, seed=9).problem
    assert problem.access.tolist() == drawn.access.tolist()
    assert problem.demand.tolist() == drawn.demand.tolist()
    expected = {
        "users": 40,
        "brokers": 3,
        "channels": 6,
        "model": model,
        "ratio": 0.5,
        "width": 0.2,
        "seed": 9,
    }
    assert expected.items() <= report.items()
    assert report["demand"] == problem.demand.sum() and report["capacity"] == problem.capacity.sum()
    assert report["density"] == problem.density and report["rates"] == len(problem.rates)
    assert report["seconds"]["total"] > 0
    assert (out / COORDINATES).exists() != (out / ACCESS).exists()


def test_people_see_sentences_and_a_second_run_takes_the_place_of_the_first(cli, tmp_path):
    out = tmp_path / "problem"
    code, printed, _ = cli("content", "generate", out, *options(), "--model", "iid")
    assert code == 0 and printed.startswith("40 users, 3 brokers and 6 channels written to")
    assert cli("content", "generate", out, *options(users=41))[0] == 0
    assert read_problem(out, print).n_users == 41
    assert [path.name for path in tmp_path.iterdir()] == ["problem"]


def test_a_folder_with_anything_else_is_left_alone(cli, tmp_path):
    (tmp_path / "thesis.txt").write_text("years")
    code, _, err = cli("content", "generate", tmp_path, *options())
    assert code == 2 and "something else than a generated problem" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (options(users=0), "--users 0 is out of range"),
        (options(brokers=0), "--brokers 0 is out of range"),
        (options(channels=-3), "--channels -3 is out of range"),
        ((*options(), "--ratio", 0), "--ratio 0.0 is out of range"),
        ((*options(), "--width", 1.5), "--width 1.5 is no length"),
        ((*options(), "--model", "torus"), "--model 'torus' is not known"),
        (options()[2:], "Missing option '--users'"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_nothing_is_written(cli, tmp_path, wrong, complaint):
    code, printed, err = cli("content", "generate", tmp_path / "problem", *wrong)
    assert code == 2 and complaint in err and not printed
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_content_alone_names_the_missing_command(cli):
    code, _, err = cli("content")
    assert code == 2 and "Missing command" in err
    code, printed, _ = cli("content", "--help")
    assert code == 0 and "generate" in printed and "topicloom content generate" in printed
