"""A named option with its default, and how it is read from `key=value` texts.

Builders and simulated protocols list theirs in their registries; the command line and the docs read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from topicloom.errors import UsageError


def python_name(key: str) -> str:
    """What a parameter is called in Python and in the registry; the command line may write it otherwise.

    >>> python_name("time-limit"), python_name("lambda"), python_name("lambda_")
    ('time_limit', 'lambda_', 'lambda_')
    """
    name = key.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def plain_name(name: str) -> str:
    """What the command line calls it: a word that Python keeps for itself loses its underscore.

    >>> plain_name("lambda_"), plain_name("time_limit")
    ('lambda', 'time_limit')
    """
    return name.removesuffix("_")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One option: its default tells its type; `choices`, `least` and `most` what is allowed.

    A text with a `least` takes one of its choices or a whole number of at least that; a text with a `form`
    takes anything, to be understood later.
    """

    default: bool | int | float | str
    help: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    form: str = ""

    def parse(self, owner: str, key: str, text: str) -> bool | int | float | str:
        """The value of `text`, or a UsageError that says what `owner` allows."""
        for value in self._readings(text):
            return value
        raise UsageError(f"--set {key}={text}: {owner} takes {key} = {self.allowed()}")

    def allowed(self) -> str:
        """The values it takes, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        kind = "number" if isinstance(self.default, float) else "whole number"
        numbers = []
        if self.least is not None and self.most is not None:
            numbers = [f"a {kind} from {self.least} to {self.most}"]
        elif self.least is not None:
            numbers = [f"a {kind} of at least {self.least}"]
        return " or ".join([*self.choices, *numbers, *([self.form] if self.form else [])])

    def _readings(self, text: str) -> Iterator[bool | int | float | str]:
        if isinstance(self.default, bool):
            yield from {"true": [True], "false": [False]}.get(text.lower(), [])
            return
        if text in self.choices or (self.form and text):
            yield text
        if self.least is not None:
            try:
                value = float(text) if isinstance(self.default, float) else int(text)
            except ValueError:
                return
            most = float("inf") if self.most is None else self.most
            if self.least <= value <= most and value < float("inf"):
                yield value


def read_settings(owner: str, parameters: Mapping[str, Parameter], settings: Sequence[str]) -> dict[str, Any]:
    """All parameters of `owner`: the defaults, overruled by `key=value` texts.

    >>> read_settings("gm", {"redundancy": Parameter(1, "times", least=1)}, ["redundancy=2"])
    {'redundancy': 2}
    """
    values: dict[str, Any] = {key: parameter.default for key, parameter in parameters.items()}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting}: write it as key=value")
        name = python_name(key)
        if name not in parameters:
            known = ", ".join(map(plain_name, parameters)) or "no parameters"
            raise UsageError(f"--set {setting}: {owner} does not know {key!r}; it takes {known}")
        values[name] = parameters[name].parse(owner, key, text)
    return values
