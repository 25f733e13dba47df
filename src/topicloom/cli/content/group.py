"""`topicloom content`: gathers the commands of content-based planning."""

from __future__ import annotations

import typer

from topicloom.cli.content import cost, generate, plan, simulate, traffic

EXAMPLES = """
[bold]Examples[/bold]

  topicloom content generate problem --users 1000 --brokers 10 --channels 20

  topicloom content traffic --log log.parquet --subscriptions subscriptions.csv --out problem

  topicloom content plan problem --out plan

  topicloom content cost problem plan
"""

content = typer.Typer(
    name="content",
    no_args_is_help=False,
    rich_markup_mode="rich",
    help=(
        "Content-based publish/subscribe at minimum cost: which broker each user should connect to.\n\n"
        "A problem is a folder of tables: brokers with capacities, prices of links, what users publish and "
        "want on each channel."
    ),
    epilog=EXAMPLES,
)
for module in (generate, traffic, plan, cost, simulate):
    module.register(content)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.add_typer(content)
