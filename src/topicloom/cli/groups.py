"""Option groups: a dataclass of options that several commands share, written once.

A command's parameter whose type is such a dataclass is replaced, on the command line, by its options.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any


def with_groups(command: Callable[..., None], **made: type[Any]) -> Callable[..., None]:
    """The same command with its option groups spread out, as typer wants to see it.

    `made` are groups that are only known now, by parameter: subclasses of what the command says.
    """
    hints = typing.get_type_hints(command, include_extras=True) | made
    groups: dict[str, type[Any]] = {}
    spread: list[inspect.Parameter] = []
    for name in inspect.signature(command).parameters:
        if is_dataclass(hints[name]):
            groups[name] = typing.cast(type[Any], hints[name])
            spread += _options(groups[name])
        else:
            default = inspect.signature(command).parameters[name].default
            spread.append(_parameter(name, hints[name], default))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return run


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        _parameter(
            field.name,
            hints[field.name],
            inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(group)
    ]


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
