"""`topicloom run --compare`: the table of an exported mesh beside those that people build by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli.console import Screen, table

if TYPE_CHECKING:  # running brokers needs more than the other commands should wait for
    from topicloom.mesh.jobs.run_compare import DesignSummary
    from topicloom.mesh.run.running_mesh import RunSettings


def run_comparison(screen: Screen, kind: str, folder: Path, settings: RunSettings) -> None:
    """Run all designs and show them; exit 1 if the exported mesh is not exact."""
    from topicloom.mesh.jobs.run_compare import compare_meshes

    with screen.working() as progress:
        found = compare_meshes(kind, folder, settings, progress=progress)
    rows = found.rows
    columns = [("", "left"), *((row.design, "right") for row in rows)]
    figures = [_figures(row) for row in rows]
    # A line for each figure: four meshes side by side fit a narrow screen.
    lines = [[name, *(figure[name] for figure in figures)] for name in figures[0]]
    screen.report(
        found,
        table("the same interest on four meshes", columns, lines),
        "messages: from broker to broker, for each delivery at another broker than the publisher's",
        "strays: messages that a broker carried and its node does not want (the star's hub wants none)",
        *(
            f"{row.design}: {row.expected - row.delivered:,} deliveries missing, "
            f"{row.duplicates:,} duplicates"
            for row in rows
            if row.delivered != row.expected or row.duplicates
        ),
        holds=found.exact,
    )


def _figures(row: DesignSummary) -> dict[str, str]:
    scale = 1e6 / max(row.delivered, 1)
    messages = row.messages_per_delivery
    return {
        "links": f"{row.links:,}",
        "connections of a broker, at most": f"{row.connections_per_node_max:,}",
        "hops, at most": f"{row.hops_max:,}",
        "messages per delivery": "" if messages is None else f"{messages:.2f}",
        "strays": f"{row.strays:,}",
        "CPU ms per 1,000 deliveries": f"{row.cpu_seconds_deliver * scale:.0f}",
        "of it the busiest broker": f"{row.cpu_seconds_deliver_max * scale:.1f}",
        "memory, MB": f"{row.memory_bytes / 1e6:,.0f}",
        "ready after, s": f"{row.seconds_ready:.1f}",
        "delivered": f"{row.delivered:,}",
        "of": f"{row.expected:,}",
    }
