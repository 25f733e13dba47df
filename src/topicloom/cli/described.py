"""What `--list --json` and `--rules --json` print: registries as JSON objects."""

from __future__ import annotations

from collections.abc import Mapping

from topicloom.base.parameters import Parameter
from topicloom.base.summaries import Summary
from topicloom.content.planners.registry import PLANNERS
from topicloom.overlay.builders.registry import BUILDERS
from topicloom.spidercast.simulator.registry import PROTOCOLS


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
    return PlannerList(
        [
            DescribedPlanner(key, found.aim, found.paper, described_parameters(found.parameters))
            for key, found in PLANNERS.items()
        ]
    )


def described_protocols() -> ProtocolList:
    """What `simulate --list` prints."""
    return ProtocolList(
        [
            DescribedProtocol(key, found.aim, found.paper, described_parameters(found.parameters))
            for key, found in PROTOCOLS.items()
        ]
    )
