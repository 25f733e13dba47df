"""The tables that people read: one place for how figures are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.table import Table

from topicloom.base.parameters import Parameter, plain_name
from topicloom.base.summaries import UNSET
from topicloom.cli.console import table
from topicloom.cli.words import in_options
from topicloom.content.planners.registry import PLANNERS
from topicloom.overlay.builders.registry import BUILDERS
from topicloom.overlay.jobs.compare import ComparedBuild
from topicloom.spidercast.simulator.registry import PROTOCOLS


def comparison_table(title: str, rows: list[ComparedBuild]) -> Table:
    """One line per build: how many connections it needs, and whether it is proved."""
    figures: dict[str, Callable[[ComparedBuild], str]] = {
        "builder": lambda row: row.algorithm,
        "edges": lambda row: f"{row.edges:,}",
        "of ring\nper topic": lambda row: f"{row.edges / ring:.0%}",
        "average\ndegree": lambda row: f"{row.degree_avg:.2f}",
        "maximum\ndegree": lambda row: f"{row.degree_max:,}",
        "99% have\nat most": lambda row: f"{row.degree_percentiles['99']:.0f}",
        "seconds\nto build": lambda row: f"{row.seconds['build']:.2f}",
        "topics\nper edge": lambda row: f"{_measure(row, 'topics_per_edge_avg'):.1f}",
        "hops in\na topic": lambda row: f"≤ {_measure(row, 'diameter_topic_max')}",
        "topic-\nconnected": _proof,
    }
    ring = next((row.edges for row in rows if row.algorithm == "ring-pt"), 0)
    measured = all(row.measures for row in rows)
    left_out = {"99% have\nat most", "seconds\nto build"}
    if not measured:
        left_out = {"topics\nper edge", "hops in\na topic"}
    if not ring:
        left_out.add("of ring\nper topic")
    shown = {heading: figure for heading, figure in figures.items() if heading not in left_out}
    words = ("builder", "topic-\nconnected")
    columns = [(heading, "left" if heading in words else "right") for heading in shown]
    return table(title, columns, [[figure(row) for figure in shown.values()] for row in rows])


def _proof(row: ComparedBuild) -> str:
    return "proved" if row.topic_connected else f"NO: {row.topics_partitioned:,} topics split"


def _measure(row: ComparedBuild, name: str) -> float:
    return 0.0 if row.measures is UNSET else row.measures[name]


def builder_list() -> str:
    """All builders with guarantee, paper and parameters, as plain text that fits any terminal."""
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


def figures_table(title: str | None, figures: list[tuple[str, str]]) -> Table:
    """Two columns: what, and the figure."""
    drawn = table(title, [("", "left"), ("", "right")], [[name, value] for name, value in figures])
    drawn.show_header = False
    return drawn
