"""What the registry holds about a builder, and how a parameter is read from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword

from topicloom.errors import UsageError
from topicloom.model.build import Build


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
    """One option of a builder: its default tells its type, `choices` and `least` what is allowed.

    A text with a `least` takes one of its choices or a whole number of at least that.
    """

    default: bool | int | float | str
    help: str
    choices: tuple[str, ...] = ()
    least: int | None = None

    def parse(self, builder: str, key: str, text: str) -> bool | int | float | str:
        """The value of `text`, or a UsageError that says what is allowed."""
        for value in self._readings(text):
            return value
        raise UsageError(f"--set {key}={text}: {builder} takes {key} = {self.allowed()}")

    def allowed(self) -> str:
        """The values it takes, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        kind = "number" if isinstance(self.default, float) else "whole number"
        numbers = [] if self.least is None else [f"a {kind} of at least {self.least}"]
        return " or ".join([*self.choices, *numbers])

    def _readings(self, text: str) -> Iterator[bool | int | float | str]:
        if isinstance(self.default, bool):
            yield from {"true": [True], "false": [False]}.get(text.lower(), [])
            return
        if text in self.choices:
            yield text
        if self.least is not None:
            try:
                value = float(text) if isinstance(self.default, float) else int(text)
            except ValueError:
                return
            if self.least <= value < float("inf"):
                yield value


@dataclass(frozen=True, slots=True)
class Builder:
    """What there is to know about an algorithm."""

    build: Callable[..., Build]
    aim: str
    guarantee: str
    complexity: str
    paper: str
    seeded: bool = False
    engines: tuple[str, ...] = ("local",)
    honours: tuple[str, ...] = ()  # the kinds of constraints it respects; it refuses the others
    links_strangers: bool = False  # may it link nodes that share no topic?
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
