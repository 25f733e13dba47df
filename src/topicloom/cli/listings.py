"""What `--list --json` and `--rules --json` print: registries as JSON objects."""

from __future__ import annotations

from collections.abc import Mapping

from topicloom.base.parameters import Parameter, plain_name
from topicloom.base.summaries import Summary
from topicloom.cli.option_names import in_options


class DescribedParameter(Summary, frozen=True):
    """A parameter of an algorithm."""

    default: object
    help: str
    allowed: str


Described = dict[str, DescribedParameter]


class DescribedBuilder(Summary, frozen=True):
    """A builder, as its registry describes it."""

    algorithm: str
    aim: str
    guarantee: str
    complexity: str
    paper: str
    engines: tuple[str, ...]
    seeded: bool
    honours: tuple[str, ...]
    parameters: Described


class DescribedPlanner(Summary, frozen=True):
    """An algorithm that plans content problems."""

    algorithm: str
    aim: str
    paper: str
    parameters: Described


class DescribedProtocol(Summary, frozen=True):
    """A protocol that can be simulated."""

    protocol: str
    aim: str
    paper: str
    parameters: Described


class BuilderList(Summary, frozen=True):
    """All builders."""

    builders: list[DescribedBuilder]


class PlannerList(Summary, frozen=True):
    """All planners."""

    planners: list[DescribedPlanner]


class ProtocolList(Summary, frozen=True):
    """All protocols."""

    protocols: list[DescribedProtocol]


class ParameterList(Summary, frozen=True):
    """All parameters of a command with one algorithm only."""

    parameters: Described


class Rules(Summary, frozen=True):
    """A table of rules, line by line."""

    rules: list[str]


def described_parameters(parameters: Mapping[str, Parameter]) -> Described:
    """Parameters by name."""
    return {
        name: DescribedParameter(one.default, one.help, one.allowed()) for name, one in parameters.items()
    }


def described_builders() -> BuilderList:
    """What `build --list` prints."""
    from topicloom.overlay.builders.registry import BUILDERS

    return BuilderList(
        [
            DescribedBuilder(
                algorithm=key,
                aim=found.aim,
                guarantee=found.guarantee,
                complexity=found.complexity,
                paper=found.paper,
                engines=tuple(found.engines),
                seeded=found.seeded,
                honours=tuple(found.honours),
                parameters=described_parameters(found.parameters),
            )
            for key, found in BUILDERS.items()
        ]
    )


def described_planners() -> PlannerList:
    """What `content plan --list` prints."""
    from topicloom.content.planners.registry import PLANNERS

    return PlannerList(
        [
            DescribedPlanner(key, found.aim, found.paper, described_parameters(found.parameters))
            for key, found in PLANNERS.items()
        ]
    )


def described_protocols() -> ProtocolList:
    """What `simulate --list` prints."""
    from topicloom.spidercast.simulator.registry import PROTOCOLS

    return ProtocolList(
        [
            DescribedProtocol(key, found.aim, found.paper, described_parameters(found.parameters))
            for key, found in PROTOCOLS.items()
        ]
    )


def builder_list() -> str:
    """All builders with guarantee, paper and parameters, as plain text that fits any terminal."""
    from topicloom.overlay.builders.registry import BUILDERS

    blocks = []
    for key, builder in BUILDERS.items():
        facts = [
            ("guarantee", in_options(builder.guarantee)),
            ("time", builder.complexity),
            ("paper", builder.paper),
            ("engines", ", ".join(builder.engines)),
            ("random", "seeded by --seed" if builder.seeded else "no: ties are fixed"),
            ("constraints", ", ".join(builder.honours) or "none"),
        ]
        blocks.append(_block(key, builder.aim, facts, builder.parameters))
    return "\n\n".join(blocks)


def planner_list() -> str:
    """All algorithms that plan content problems, in the same form."""
    from topicloom.content.planners.registry import PLANNERS

    blocks = []
    for key, planner in PLANNERS.items():
        facts = [
            ("time", planner.complexity),
            ("paper", planner.paper),
            ("random", "seeded by --seed" if planner.seeded else "no: ties are fixed"),
        ]
        blocks.append(_block(key, planner.aim, facts, planner.parameters))
    return "\n\n".join(blocks)


def protocol_list() -> str:
    """All protocols that can be simulated, in the same form; shared parameters stand once, at the end."""
    from topicloom.spidercast.simulator.registry import PROTOCOLS

    shared = set.intersection(*(set(found.parameters) - set(found.own) for found in PROTOCOLS.values()))
    blocks = [_block(key, found.aim, [("paper", found.paper)], found.own) for key, found in PROTOCOLS.items()]
    some = next(iter(PROTOCOLS.values())).parameters
    common = {name: parameter for name, parameter in some.items() if name in shared}
    return "\n\n".join([*blocks, _block("all", "what they have in common", [], common)])


def _block(key: str, aim: str, facts: list[tuple[str, str]], parameters: Mapping[str, Parameter]) -> str:
    """A name, what it is for, and its facts and parameters below it."""
    options = [
        (
            f"--set {plain_name(name)}",
            f"{parameter.help}{_allowed(parameter)} (default {_shown(parameter.default)})",
        )
        for name, parameter in parameters.items()
    ]
    width = max((len(name) for name, _ in facts + options), default=0)
    return "\n".join(
        [f"{key}: {aim}", *(f"    {name:<{max(width, 18)}} {text}" for name, text in facts + options)]
    )


def _shown(default: object) -> object:
    return default if default != "" else "none"


def _allowed(parameter: Parameter) -> str:
    told = parameter.choices or parameter.form or parameter.most is not None
    return f": {parameter.allowed()}" if told else ""
