"""What an option is for and which values it takes, written once: in the annotation of the argument.

    def build_gm(interest, *, redundancy: Annotated[int, Parameter("runs", least=1)] = 1): ...

`parameters_of` reads them off a function or a dataclass; `--set`, Python callers, lists and docs follow it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from keyword import iskeyword
from math import inf, isfinite
from typing import Any, get_type_hints

from topicloom.errors import UsageError

SHORTEST = 0.001  # a clock that ticks faster than every millisecond only spins


def python_name(key: str) -> str:
    """Return the name of a parameter in Python; the command line may write it otherwise.

    >>> python_name("time-limit"), python_name("lambda"), python_name("lambda_")
    ('time_limit', 'lambda_', 'lambda_')
    """
    name = key.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def plain_name(name: str) -> str:
    """Return the name on the command line: a Python keyword loses its underscore.

    >>> plain_name("lambda_"), plain_name("time_limit")
    ('lambda', 'time_limit')
    """
    return name.removesuffix("_")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One option: its default tells its type; `choices`, `least` and `most` what is allowed.

    A text with a `least` takes one of its choices or a whole number of at least that; a text with a `form`
    takes anything, to be understood later. The default is that of the annotated argument.
    """

    help: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    form: str = ""
    default: bool | int | float | str = ""

    def parse(self, owner: str, key: str, text: str) -> bool | int | float | str:
        """Return the value of `text`; a UsageError says what `owner` allows."""
        if isinstance(self.default, bool) and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if text in self.choices or (self.form and text):
            return text
        with suppress(ValueError):
            value = float(text) if isinstance(self.default, float) else int(text)
            most = inf if self.most is None else self.most
            if self.least is not None and self.least <= value <= most and value < inf:
                return value
        raise UsageError(f"`set={key}={text}`: {owner} takes {key} = {self.allowed()}")

    def allowed(self) -> str:
        """Return the values it takes, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        kind = "number" if isinstance(self.default, float) else "whole number"
        numbers = []
        if self.least is not None and self.most is not None:
            numbers = [f"a {kind} from {self.least} to {self.most}"]
        elif self.least is not None:
            numbers = [f"a {kind} of at least {self.least}"]
        return " or ".join([*self.choices, *numbers, *([self.form] if self.form else [])])


@cache
def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function or a dataclass: those of its arguments that are annotated with one.

    >>> from typing import Annotated
    >>> def build(interest, *, redundancy: Annotated[int, Parameter("runs", least=1)] = 1): ...
    >>> parameters_of(build)["redundancy"].default
    1
    """
    hints = get_type_hints(function, include_extras=True)
    return {
        name: replace(found, default=argument.default)
        for name, argument in inspect.signature(function).parameters.items()
        for found in getattr(hints.get(name), "__metadata__", ())
        if isinstance(found, Parameter)
    }


def read_settings(owner: str, parameters: Mapping[str, Parameter], settings: Sequence[str]) -> dict[str, Any]:
    """Return all parameters of `owner`: the defaults, overruled by `key=value` texts.

    >>> read_settings("gm", {"redundancy": Parameter("runs", least=1, default=1)}, ["redundancy=2"])
    {'redundancy': 2}
    """
    values: dict[str, Any] = {key: parameter.default for key, parameter in parameters.items()}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"`set={setting}`: write it as key=value")
        name = python_name(key)
        if name not in parameters:
            known = ", ".join(map(plain_name, parameters)) or "no parameters"
            raise UsageError(f"`set={setting}`: {owner} does not know {key!r}; it takes {known}")
        values[name] = parameters[name].parse(owner, key, text)
    return values


def check_values(
    owner: str, parameters: Mapping[str, Parameter], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Check values given from Python in the same way, and return all parameters."""
    try:
        return read_settings(owner, parameters, [f"{key}={value}" for key, value in values.items()])
    except UsageError as error:
        raise UsageError(str(error).replace("`set=", "`", 1)) from None


def check_constants(settings: Any, clocks: Sequence[str]) -> None:
    """Refuse constants (a dataclass) that are no numbers of at least 0, and `clocks` that only spin."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        if not isfinite(value) or value < 0:
            raise UsageError(f"`{field.name}={value}`: a number of at least 0 is needed")
    for name in clocks:
        if getattr(settings, name) < SHORTEST:
            raise UsageError(f"`{name}={getattr(settings, name):g}`: it must be at least {SHORTEST:g}")
