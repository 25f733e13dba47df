"""Parameters are declared once, at the argument: what a list shows is what Python callers and --set get."""

from __future__ import annotations

import inspect

import pytest

from topicloom.base.parameters import read_settings
from topicloom.base.registry import Entry, find
from topicloom.content.planners.registry import PLANNERS
from topicloom.errors import UsageError
from topicloom.overlay.builders.registry import BUILDERS, run_builder
from topicloom.overlay.model.interest import Interest

COMMON = {
    "interest", "problem", "constraints", "start", "seed", "threads", "progress", "core_model", "time_limit"
}  # fmt: skip
FUNCTIONS = {name: builder.build for name, builder in BUILDERS.items()}
FUNCTIONS |= {f"content {name}": planner.function for name, planner in PLANNERS.items()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_of_its_own_is_a_parameter_with_its_default(name):
    entry = PLANNERS[name.removeprefix("content ")] if name.startswith("content ") else BUILDERS[name]
    arguments = inspect.signature(FUNCTIONS[name]).parameters
    assert set(arguments) - set(entry.parameters) <= COMMON
    for key, parameter in entry.parameters.items():
        assert parameter.default == arguments[key].default
        assert parameter.help


@pytest.mark.parametrize("entry", [*BUILDERS.values(), *PLANNERS.values()])
def test_every_default_is_a_value_that_its_parameter_takes(entry):
    given = [f"{key}={parameter.default}" for key, parameter in entry.parameters.items()]
    assert read_settings("it", entry.parameters, given) == read_settings("it", entry.parameters, [])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"redundancy": 0}, "`redundancy=0`: gm takes redundancy = a whole number of at least 1"),
        ({"costs": "never"}, "`costs=never`: gm takes costs = tie or weight"),
        ({"eta": 3}, "gm does not know 'eta'; it takes redundancy, costs"),
    ],
)
def test_a_builder_called_by_name_refuses_what_its_parameters_do_not_take(values, words):
    with pytest.raises(UsageError) as caught:
        run_builder("gm", Interest.from_pairs([("a", "x"), ("b", "x")]), **values)
    assert words in str(caught.value)
    assert not str(caught.value).startswith("`set=")


def test_an_unknown_name_lists_all_names():
    table = {"one": Entry(aim="first"), "two": Entry(aim="second")}
    assert find("kind", table, "two") is table["two"]
    with pytest.raises(UsageError, match="^`kind=three`: choose one of one, two$"):
        find("kind", table, "three")
