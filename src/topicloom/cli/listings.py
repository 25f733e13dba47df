"""What `--list` and `--rules` print: registries as text that fits any terminal, and as JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from topicloom.base.parameters import Parameter, plain_name
from topicloom.base.summaries import Summary
from topicloom.cli.option_names import in_options

FACTS: dict[str, Callable[[Any], str]] = {
    "guarantee": lambda entry: in_options(entry.guarantee),
    "time": lambda entry: entry.complexity,
    "paper": lambda entry: entry.paper,
    "engines": lambda entry: ", ".join(entry.engines),
    "random": lambda entry: "seeded by --seed" if entry.seeded else "no: ties are fixed",
    "constraints": lambda entry: ", ".join(entry.honours) or "none",
}


class Listing(Summary, frozen=True):
    """What `--list --json` and `--rules --json` print: one key, and all there is under it."""

    content: dict[str, Any]

    FLAT = frozenset({"content"})


def builder_listing() -> tuple[Listing, str]:
    """Return all builders as JSON and as text."""
    from topicloom.overlay.builders.registry import BUILDERS

    keys = ("aim", "guarantee", "complexity", "paper", "engines", "seeded", "honours")
    return _json("builders", "algorithm", BUILDERS, keys), _text(BUILDERS, *FACTS)


def planner_listing() -> tuple[Listing, str]:
    """Return all algorithms that plan content problems, in the same form."""
    from topicloom.content.planners.registry import PLANNERS

    text = _text(PLANNERS, "time", "paper", "random")
    return _json("planners", "algorithm", PLANNERS, ("aim", "paper")), text


def protocol_listing() -> tuple[Listing, str]:
    """Return all protocols that can be simulated, in the same form; shared parameters come at the end."""
    from topicloom.spidercast.simulator.registry import PROTOCOLS

    blocks = [_block(key, found.aim, [("paper", found.paper)], found.own) for key, found in PROTOCOLS.items()]
    shared = set.intersection(*(set(found.parameters) - set(found.own) for found in PROTOCOLS.values()))
    some = next(iter(PROTOCOLS.values())).parameters
    common = {name: parameter for name, parameter in some.items() if name in shared}
    text = "\n\n".join([*blocks, _block("all", "what they have in common", [], common)])
    return _json("protocols", "protocol", PROTOCOLS, ("aim", "paper")), text


def parameter_listing(parameters: Mapping[str, Parameter]) -> tuple[Listing, str]:
    """Return the parameters of a command with one algorithm only."""
    text = "\n".join(f"{name}={one.default}: {one.help}" for name, one in parameters.items())
    return Listing({"parameters": _described(parameters)}), text


def rule_listing(table: str) -> tuple[Listing, str]:
    """Return a table of rules."""
    return Listing({"rules": table.splitlines()}), table


def _described(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    return {
        name: {"default": one.default, "help": one.help, "allowed": one.allowed()}
        for name, one in parameters.items()
    }


def _json(title: str, name: str, registry: Mapping[str, Any], keys: tuple[str, ...]) -> Listing:
    entries = [
        {
            name: key,
            **{one: getattr(entry, one) for one in keys},
            "parameters": _described(entry.parameters),
        }
        for key, entry in registry.items()
    ]
    return Listing({title: entries})


def _text(registry: Mapping[str, Any], *facts: str) -> str:
    return "\n\n".join(
        _block(key, entry.aim, [(fact, FACTS[fact](entry)) for fact in facts], entry.parameters)
        for key, entry in registry.items()
    )


def _block(key: str, aim: str, facts: list[tuple[str, str]], parameters: Mapping[str, Parameter]) -> str:
    """Return a name, what it is for, and its facts and parameters below it."""
    options = []
    for name, one in parameters.items():
        default = "none" if one.default == "" else one.default
        limited = one.choices or one.form or one.most is not None
        allowed = f": {one.allowed()}" if limited else ""
        options.append((f"--set {plain_name(name)}", f"{one.help}{allowed} (default {default})"))
    width = max(18, *(len(name) for name, _ in facts + options))
    return "\n".join([f"{key}: {aim}", *(f"    {name:<{width}} {text}" for name, text in facts + options)])
