"""Commands are loaded when they are called, so that `--help` and every other command stay quick.

A command is a function in a module of the same name, with an optional `EXAMPLES` text. Its options are its
parameters, `Annotated[type, "help"]`, maybe with a metavar, or with what else typer needs; `list_` is the
option `--list`. A parameter whose type is a dataclass of options is replaced by these, under the heading
`PANEL`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import typing
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from topicloom.base.addresses import is_address, refuse_address
from topicloom.base.atomic_write import check_writable
from topicloom.base.output_lock import output_locked
from topicloom.cli.completions import values_of
from topicloom.cli.option_names import options_are
from topicloom.cli.standard_input import input_kept
from topicloom.errors import UsageError

EXAMPLES_SHOWN = 2


class Command(TyperCommand):
    """A command whose help shows flags as flags."""

    def get_params(self, ctx: Any) -> Any:
        return _flags_bare(super().get_params(ctx))


def _flags_bare(parameters: list[Any]) -> list[Any]:
    """Return parameters such that help shows no value after a flag, also after those that typer adds."""
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return parameters


def lazy_group(package: str, names: Collection[str]) -> type[TyperGroup]:
    """Return a class of command groups; `names` are the commands of `package`."""

    class LazyGroup(TyperGroup):
        """Lists its commands by their one-line helps and imports the module of the one that is called."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = {name: TyperCommand(name) for name in names}

        def get_command(self, ctx: Any, name: str) -> Any:
            return TyperCommand(name, help=one_line_help(package, name)) if name in names else None

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            name, command, rest = super().resolve_command(ctx, args)
            return name, command and self.load(str(name)), rest

        def get_params(self, ctx: Any) -> Any:
            return _flags_bare(super().get_params(ctx))

        def load(self, name: str) -> Any:
            """Return the command itself, where `get_command` has its name and help only."""
            return load_command(package, name)

    return LazyGroup


def one_line_help(package: str, name: str) -> str:
    """Return how the docstring of a command, or of a package of commands, begins; nothing is imported."""
    spec: Any = find_spec(f"{package}.{name}")
    tree = ast.parse(spec.loader.get_source(spec.name))
    commands = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name]
    text = ast.get_docstring(commands[0] if commands else tree) or ""
    return " ".join(text.partition("\n\n")[0].split())


def group_app(
    name: str,
    package: str,
    names: Collection[str],
    text: str | None,
    lines: str = "",
    completion: bool = False,
) -> typer.Typer:
    """Return the application of a command group: its help is `text`, and examples for `lines`.

    `completion` gives it the options that teach a shell to complete.
    """
    app = typer.Typer(
        name=name,
        cls=lazy_group(package, names),
        no_args_is_help=False,
        add_completion=completion,
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
    command = getattr(module, name)
    text = inspect.cleandoc(command.__doc__ or "")
    # The terminal breaks lines, not the source.
    text = "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in text.split("\n\n"))
    end = examples(getattr(module, "EXAMPLES", ""))
    app.command(name, cls=Command, help=text, epilog=end)(with_groups(command, **made))
    return typer.main.get_command(app)


def examples(lines: str) -> str | None:
    """Return the end of a command's help: two examples; one begins on each line that is not indented."""
    if not lines:
        return None
    shown = re.split(r"\n(?! )", lines.strip())[:EXAMPLES_SHOWN]
    return "\n[bold]Examples[/bold]" + "".join(f"\n\n  {example}" for example in shown)


def with_groups(command: Callable[..., None], **made: type[Any]) -> Callable[..., None]:
    """Return the command with its option groups spread out, as typer wants to see it.

    `made` are groups that are only known now, by parameter: subclasses of what the command says.
    """
    hints = typing.get_type_hints(command, include_extras=True) | made
    groups: dict[str, type[Any]] = {}
    spread: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            group = groups[name] = typing.cast(type[Any], hints[name])
            inside = typing.get_type_hints(group, include_extras=True)
            spread += [_parameter(one, inside[one.name], group.PANEL) for one in fields(group)]
        else:
            spread.append(_parameter(parameter, hints[name]))
    names = [one.annotation.__metadata__[0].param_decls[0] for one in spread]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        given = dict(values)
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        with options_are(names):
            for name, value in given.items():
                # Before any work; options that may be an address are texts.
                if isinstance(value, Path):
                    refuse_address(value, f"`{name}={value}`")
            with input_kept(), _output_kept(values.get("out")), _plans_kept(given.get("spark_plans")):
                command(**values)

    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return run


def _output_kept(out: Path | str | None) -> AbstractContextManager[None]:
    """Keep other commands from writing to the same place of this machine."""
    if out is None or is_address(str(out)):
        return nullcontext()
    return output_locked(out, f"`out={Path(out)}`")


@contextmanager
def _plans_kept(path: Path | None) -> Iterator[None]:
    """Write the plans of all queries that Spark runs in this block, also where it fails."""
    if path is None:
        yield
        return
    shown = f"`spark_plans={path}`"
    check_writable(path, shown)
    if path.is_dir():
        raise UsageError(f"{shown} is a folder; name a file")
    from topicloom.tables.spark.session import get_session, session_runs
    from topicloom.tables.spark.spark_work import last_plan, write_plans

    before = last_plan(get_session()) if session_runs() else -1
    try:
        yield
    finally:
        write_plans(get_session() if session_runs() else None, path, before)


def _parameter(of: inspect.Parameter | Field[Any], hint: Any, panel: str | None = None) -> inspect.Parameter:
    """Return a parameter, or a field of a group with this heading, as typer takes it."""
    told, *metavar = hint.__metadata__
    option = typer.Option(help=told, metavar=[*metavar, None][0]) if isinstance(told, str) else copy(told)
    word = of.name.rstrip("_").replace("_", "-")
    if isinstance(option, OptionInfo):
        option.param_decls = [f"--{word}"]
        option.rich_help_panel = panel or option.rich_help_panel
        if option.metavar is None:
            option.metavar = None if hint.__origin__ is bool else word.rpartition("-")[2].upper()
        option.autocompletion = values_of(f"--{word}")
    else:
        option.param_decls = [word.upper()]
        option.metavar = option.metavar or word.upper()
        option.show_default = False
        option.autocompletion = values_of(word.upper())
    default = inspect.Parameter.empty if of.default is MISSING else of.default
    return inspect.Parameter(
        of.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[hint.__origin__, option],
    )
