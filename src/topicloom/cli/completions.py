"""What shells offer after an option or an argument: builders, parameters, kinds of brokers and the like.

Registries are loaded when somebody presses the tabulator, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from topicloom.base.parameters import Parameter


def _algorithms(context: typer.Context) -> Collection[str]:
    if context.command.name == "plan":
        from topicloom.content.planners.registry import PLANNERS

        return PLANNERS
    from topicloom.overlay.builders.registry import BUILDERS

    return BUILDERS


def _protocols(context: typer.Context) -> Collection[str]:
    from topicloom.spidercast.simulator.registry import PROTOCOLS

    return PROTOCOLS


def _kinds(context: typer.Context) -> Collection[str]:
    from topicloom.mesh.jobs.export import exporters
    from topicloom.mesh.kinds.registry import runnable

    return runnable() if context.command.name == "run" else exporters()


def _examples(context: typer.Context) -> Collection[str]:
    from topicloom.mesh.jobs.example import EXAMPLES

    return EXAMPLES


def _experiments(context: typer.Context) -> Collection[str]:
    if context.command.name != "reproduce":
        return ()
    from topicloom.experiments.model import PAPERS
    from topicloom.experiments.registry import ALL, EXPERIMENTS

    return (ALL, *PAPERS, *EXPERIMENTS)


def _parameters(context: typer.Context) -> list[str]:
    """Return the parameters of the algorithm that the command line names so far, or of the default one."""
    named = context.params.get("algorithm")
    if context.command.name == "compare":
        names = str(context.params.get("algorithms") or "").split(",")
        return [f"{name}:{word}" for name in names for word in _words(_builder(name))]
    if context.command_path.endswith("content simulate"):
        from topicloom.content.simulator.scenario import PARAMETERS

        return _words(PARAMETERS)
    if context.command.name == "plan":
        from topicloom.content.planners import registry as planners

        return _words(planners.PLANNERS[str(named or planners.DEFAULT)].parameters)
    if context.command.name == "simulate":
        from topicloom.spidercast.simulator.registry import PROTOCOLS

        return _words(PROTOCOLS[str(context.params.get("protocol") or "spidercast")].parameters)
    from topicloom.overlay.builders.default import DEFAULT

    return _words(_builder(str(named or DEFAULT)))


def _builder(name: str) -> Mapping[str, Parameter]:
    from topicloom.overlay.builders.registry import BUILDERS

    return BUILDERS[name].parameters if name in BUILDERS else {}


def _words(parameters: Mapping[str, Parameter]) -> list[str]:
    from topicloom.base.parameters import plain_name

    return [f"{plain_name(name)}=" for name in parameters]


def _core_models(context: typer.Context) -> Collection[str]:
    from topicloom.content.planners.broker_trees import CODES

    return CODES


def _popularity(context: typer.Context) -> list[str]:
    laws = ["uniform", "zipf:", "exponential:", "geometric:"]
    return [*laws, "rss", "nyse", "chen-uniform", "chen-zipf", "chen-exp"]


# By the word of the option, or of the argument in capitals.
VALUES: dict[str, Callable[[typer.Context], Iterable[str]]] = {
    "--algorithm": _algorithms,
    "--algorithms": _algorithms,
    "--protocol": _protocols,
    "--set": _parameters,
    "--popularity": _popularity,
    "--engine": lambda context: ("auto", "local", "spark"),
    "--format": lambda context: ("csv", "tsv", "json", "parquet"),
    "--encoding": lambda context: ("utf-8", "latin-1", "windows-1252", "iso8859-15"),
    "--edges-encoding": lambda context: ("utf-8", "latin-1", "windows-1252", "iso8859-15"),
    "--core-model": _core_models,
    "--output-format": lambda context: ("table", "csv", "markdown", "latex"),
    "--max-hops": lambda context: ("auto", "none"),
    "--max-degree": lambda context: ("auto",),
    "--trees": lambda context: ("hops", "spread"),
    "KIND": _kinds,
    "NAME": _examples,
    "INTEREST": _experiments,
}


def values_of(word: str) -> Callable[[typer.Context, str], list[str]] | None:
    """Return what gives the values of an option or argument; None: the shell offers files."""
    values = VALUES.get(word)
    if values is None:
        return None

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        # Of a list that is separated by commas the last word is completed.
        before, comma, begun = incomplete.rpartition(",")
        try:
            found = list(values(ctx))
        except (KeyError, AttributeError):
            return []  # another command, or an algorithm that does not exist
        return [f"{before}{comma}{value}" for value in found if value.startswith(begun)]

    return complete
