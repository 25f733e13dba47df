"""Commands are loaded when they are called, so that `--help` and every other command stay quick.

A command is a function in a module of the same name, with an optional `EXAMPLES` text. A parameter whose type
is a dataclass of options, shared by several commands, is replaced by these options.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def lazy_group(package: str, helps: Mapping[str, str]) -> type[TyperGroup]:
    """Return a class of command groups; `helps` has the one-line help of each command of `package`."""

    class LazyGroup(TyperGroup):
        """Lists its commands by their one-line helps and imports the module of the one that is called."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = {name: TyperCommand(name, help=text) for name, text in helps.items()}

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            name, command, rest = super().resolve_command(ctx, args)
            return name, command and self.load(str(name)), rest

        def load(self, name: str) -> Any:
            """Return the command itself, where `commands` has its name and help only."""
            return load_command(package, name)

    return LazyGroup


def group_app(name: str, package: str, helps: Mapping[str, str], text: str, lines: str = "") -> typer.Typer:
    """Return the application of a command group: its help is `text`, and examples for `lines`."""
    app = typer.Typer(
        name=name,
        cls=lazy_group(package, helps),
        no_args_is_help=False,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=text,
        epilog=examples(lines),
    )
    app.callback()(lambda: None)
    return app


def load_command(package: str, name: str) -> Any:
    """Import a command, or the group `app` of a package, and return it as typer runs it."""
    module = import_module(f"{package}.{name}")
    if hasattr(module, "app"):
        return typer.main.get_command(module.app)
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    made = module.option_groups() if hasattr(module, "option_groups") else {}
    app.command(name, epilog=examples(getattr(module, "EXAMPLES", "")))(
        with_groups(getattr(module, name), **made)
    )
    return typer.main.get_command(app)


def examples(lines: str) -> str | None:
    """Return the end of a command's help: an example for each line that is not indented."""
    if not lines:
        return None
    return "\n[bold]Examples[/bold]" + re.sub(r"\n(?! )", "\n\n  ", lines.rstrip())


def with_groups(command: Callable[..., None], **made: type[Any]) -> Callable[..., None]:
    """Return the command with its option groups spread out, as typer wants to see it.

    `made` are groups that are only known now, by parameter: subclasses of what the command says.
    """
    hints = typing.get_type_hints(command, include_extras=True) | made
    groups: dict[str, type[Any]] = {}
    spread: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = typing.cast(type[Any], hints[name])
            spread += _options(groups[name])
        else:
            spread.append(_parameter(name, hints[name], parameter.default))

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
