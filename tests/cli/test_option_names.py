"""Messages from below name fields; a user of the command line must read options that exist there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import topicloom
from topicloom.cli.content.plan import figure_lines
from topicloom.cli.main import execute
from topicloom.cli.option_names import in_options, options_are
from topicloom.content.jobs.plan import PlanFigures

SOURCE = Path(topicloom.__file__).parent
OPTION = re.compile(r"(?<![\w-])--([a-z]|$)")
WORDS_OF_JAVA = {"--add-modules=jdk.incubator.vector"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`seed` is odd", "--seed is odd"),
        ("`time_limit=0`: too short", "--time-limit 0: too short"),
        ("give `certify=True`", "give --certify"),
        ("`header=False` helps", "--no-header helps"),
        ("`lambda_=3`", "--set lambda=3"),
        ("`spark_conf=spark.local.dir=D`", "--spark-conf spark.local.dir=D"),
        ("`kind=dot` is odd", "KIND dot is odd"),
        ("node `Not A Field` and `a b`", "node `Not A Field` and `a b`"),
        ("`kind=a`b`: odd", "KIND a`b: odd"),
        ("`algorithm=x`: odd", "--algorithms x: odd"),
        ("topic '`seed`' of a node's `seed`", "topic '`seed`' of a node's --seed"),
        ("row 'it\\'s,`seed`': see `seed`", "row 'it\\'s,`seed`': see --seed"),
        ("row \"it's,`seed`\": users' `seed`", "row \"it's,`seed`\": users' --seed"),
    ],
)
def test_fields_become_options(text, shown):
    options = [
        "--seed",
        "--time-limit",
        "--certify",
        "--no-header",
        "--spark-conf",
        "--set",
        "--algorithms",
        "KIND",
    ]
    with options_are(options):
        assert in_options(text) == shown


def test_without_such_an_option_the_name_stays():
    with options_are(["--seed"]):
        assert in_options("`work=5` and `seed`") == "`work=5` and --seed"
    assert in_options("`seed`") == "`seed`", "outside of a command nothing changes"


def test_options_are_those_of_the_command_that_runs(capsys):
    assert execute(["content", "generate", "out", "--users", "0", "--brokers", "1", "--channels", "1"]) == 2
    assert "--users 0" in capsys.readouterr().err


def test_what_is_shown_names_options_too():
    figures = dict.fromkeys(PlanFigures.__struct_fields__, 0.5) | {
        "users": 1,
        "brokers_used": 1,
        "brokers": 1,
    }
    with options_are(["--time-limit"]):
        told = figure_lines(PlanFigures(**figures | {"channels": 1, "core_model": "free"}), "a plan")
    assert "use local-search (and --time-limit for more of it)" in told[0]


def test_below_the_command_line_no_message_speaks_of_options():
    """Python callers would read of `--options` that they do not have."""
    found = [
        f"{path.relative_to(SOURCE)}:{text.lineno}: {text.value!r}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0]
        not in ("cli", "report", "experiments")  # they show commands to repeat
        for text in _texts(ast.parse(path.read_text()))
        if OPTION.search(text.value) and text.value not in WORDS_OF_JAVA
    ]
    assert found == []


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """All pieces of text that are not documentation."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node
