"""`topicloom explain`: why an edge, a node or a topic of a build looks as it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from topicloom.cli.console import Screen
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.overlay.model.build import Build
    from topicloom.overlay.model.explanation import Explanation

EXAMPLES = """
topicloom explain my-overlay --edge n0001 n0042      (what it carries, what would split without it)
topicloom explain my-overlay --node n0001            (who it talks to, and why)
topicloom explain my-overlay --topic t0007 --picture t0007.png
"""


def explain(
    screen: Screen,
    build: Annotated[Path, typer.Argument(help="A build folder.")],
    edge: Annotated[
        tuple[str, str] | None, typer.Option(metavar="U V", help="The edge between two nodes.")
    ] = None,
    node: Annotated[str | None, typer.Option(metavar="NODE", help="A node and its neighbors.")] = None,
    topic: Annotated[str | None, typer.Option(metavar="TOPIC", help="A topic and its subgraph.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the drawn topic too (.png, .svg, .pdf, .html)."),
    ] = None,
) -> None:
    """Tell what an edge carries and what would split without it, who a node talks to and why, or how a topic
    hangs together; with a small drawing of the topic.
    """
    from topicloom.base.charts import check_chart_path
    from topicloom.overlay.jobs.explain import explain_edge, explain_node, explain_topic
    from topicloom.overlay.model.build_folder import load_build

    if sum(one is not None for one in (edge, node, topic)) != 1:
        raise UsageError("give one of --edge U V, --node NODE and --topic TOPIC")
    if picture is not None:
        check_chart_path(picture)
    found: Explanation
    with screen.working() as progress:
        progress.phase("read")
        made = load_build(build)
        assert made.interest is not None  # a folder has it
        progress.phase("explain")
        if edge is not None:
            found = explain_edge(made.interest, made.overlay, *edge)
        elif node is not None:
            found = explain_node(made.interest, made.overlay, node)
        else:
            found = explain_topic(made.interest, made.overlay, str(topic))
        if picture is not None:
            progress.phase("draw")
            _draw(found, made, picture)
    lines = found.lines()
    if picture is not None:
        found = replace(found, picture=str(picture))
        lines.append(f"picture: {picture}")
    screen.report(found, *lines)


def _draw(found: Explanation, made: Build, picture: Path) -> None:
    from topicloom.base.charts import save_chart
    from topicloom.overlay.charts import draw_explanation

    if not found.drawing:
        raise UsageError("--picture: there is no topic to draw")
    save_chart(draw_explanation(found, made.overlay), picture)
