"""The tables that people read: one place for how figures are shown."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from topicloom.builders.registry import BUILDERS
from topicloom.cli.console import table


def comparison_table(title: str, rows: list[dict[str, Any]]) -> Table:
    """One line per build: how many connections it needs, and whether it is proved."""
    ring = next((row["edges"] for row in rows if row["algorithm"] == "ring-pt"), None)
    columns = [
        ("builder", "left"),
        ("edges", "right"),
        ("average\ndegree", "right"),
        ("maximum\ndegree", "right"),
        ("99% have\nat most", "right"),
        ("seconds\nto build", "right"),
        ("topic-\nconnected", "left"),
    ]
    if ring:
        columns.insert(2, ("of ring\nper topic", "right"))
    lines = []
    for row in rows:
        line = [
            row["algorithm"],
            f"{row['edges']:,}",
            f"{row['degree_avg']:.2f}",
            f"{row['degree_max']:,}",
            f"{row['degree_percentiles']['99']:.0f}",
            f"{row['seconds']['build']:.2f}",
            "proved" if row["topic_connected"] else f"NO: {row['topics_partitioned']:,} topics split",
        ]
        if ring:
            line.insert(2, f"{row['edges'] / ring:.0%}")
        lines.append(line)
    return table(title, columns, lines)


def builder_list() -> str:
    """All builders with guarantee, paper and parameters, as plain text that fits any terminal."""
    blocks = []
    for key, builder in BUILDERS.items():
        facts = [
            ("guarantee", builder.guarantee),
            ("time", builder.complexity),
            ("paper", builder.paper),
            ("engines", ", ".join(builder.engines)),
            ("random", "seeded by --seed" if builder.seeded else "no: ties are fixed"),
        ]
        facts += [
            (f"--set {name}", f"{parameter.help} (default {parameter.default})")
            for name, parameter in builder.parameters.items()
        ]
        lines = [f"{key}: {builder.aim}", *(f"    {name:<17} {text}" for name, text in facts)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def figures_table(title: str | None, figures: list[tuple[str, str]]) -> Table:
    """Two columns: what, and the figure."""
    drawn = table(title, [("", "left"), ("", "right")], [[name, value] for name, value in figures])
    drawn.show_header = False
    return drawn
