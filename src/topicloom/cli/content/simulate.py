"""`topicloom content simulate`: brokers that migrate their users by themselves, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.base.counts import counted
from topicloom.cli.console import Screen, table
from topicloom.cli.listings import parameter_listing, rule_listing
from topicloom.cli.options import Seed, Settings
from topicloom.content.brokers.user_rules import rule_table
from topicloom.content.jobs.simulate import ContentSimulation, simulate_content_folder
from topicloom.content.simulator.run import ContentOutcome
from topicloom.content.simulator.scenario import PARAMETERS, ContentScenario
from topicloom.errors import UsageError

EXAMPLES = """
topicloom content simulate problem
topicloom content simulate problem --set events=false --set rounds=60 --out course
topicloom content simulate problem --set drift=0.02 --set settle=0 --set rounds=20
topicloom content simulate problem --set rates=counted --set deliveries=50000
topicloom content simulate --list          (all parameters)
topicloom content simulate --rules         (the life of a user at a broker, as a table)
"""
PLOT = "rounds.png"
SHOWN = 12  # rounds in the table on the screen: the first ones, and the last


def simulate(
    screen: Screen,
    source: Annotated[Path | None, typer.Argument(metavar="DIR", help="A content problem.")] = None,
    set_: Settings = None,
    seed: Seed = 0,
    out: Annotated[Path | None, "Folder for the rounds, a chart and the last assignment."] = None,
    list_: Annotated[bool, "List parameters and leave."] = False,
    rules: Annotated[bool, "Print the rules of a user and leave."] = False,
) -> None:
    """Let brokers move their users to cheaper brokers by themselves, from a random start, in virtual time.

    The cost of each round is the exact one. The same seed gives the same run.
    """
    if rules:
        return screen.report(*rule_listing(rule_table()), always=True)
    if list_:
        return screen.report(*parameter_listing(PARAMETERS), always=True)
    if source is None:
        raise UsageError("DIR is missing; name the folder of a content problem")
    scenario = ContentScenario.of(set_ or [], seed=seed)
    with screen.working() as progress:
        summary, outcome = simulate_content_folder(
            source, scenario, out=out, extras=_draw, notice=screen.notice, progress=progress
        )
    screen.report(summary, _rounds_table(outcome), *_told(summary, out))


def _draw(summary: ContentSimulation, outcome: ContentOutcome, folder: Path) -> None:
    """Draw the chart of an --out folder."""
    from topicloom.base.charts import save_chart
    from topicloom.content.charts import rounds_chart

    central = summary.cost_central
    levels = {} if central is None else {"centralised local search": central}
    title = f"{counted(summary.users, 'user')} migrating among {counted(summary.brokers, 'broker')}"
    save_chart(rounds_chart(outcome.rows, levels, title), folder / PLOT)


def _rounds_table(outcome: ContentOutcome) -> Any:
    rows = outcome.rows
    shown = rows if len(rows) <= SHOWN else [*rows[: SHOWN - 2], *rows[-2:]]
    columns = {"round": ",", "cost": ",.6g", "access_cost": ",.6g", "core_cost": ",.6g", "overflow": ",.3g"}
    columns |= {"migrations": ",", "control_messages": ","}
    headings = [name.removesuffix("_cost").replace("_", "\n") for name in columns]
    cells = [[format(row[name], form) for name, form in columns.items()] for row in shown]
    return table(None, [(heading, "right") for heading in headings], cells)


def _told(summary: ContentSimulation, out: Path | None) -> list[str]:
    start, end, central = summary.cost_start, summary.cost_end, summary.cost_central
    settled = "settled" if summary.settled else "not settled"
    lines = [
        f"{counted(summary.users, 'user')}, {counted(summary.brokers, 'broker')}, "
        f"{counted(summary.channels, 'channel')}; {settled} after "
        f"{counted(summary.rounds, 'round')} ({summary.seconds['simulate']:.1f} s)",
        f"cost {start:,.6g} at the start, {end:,.6g} at the end ({_share(end, start)}); "
        f"random plans cost {summary.cost_random:,.6g}",
    ]
    if central is not None:
        lines.append(
            f"a planner that knows everything: {central:,.6g}; the brokers are at {_share(end, central)}"
        )
    if summary.migrations:
        lines.append(
            f"{summary.migrations:,} migrations, {summary.messages_per_migration:.1f} control "
            "messages for each"
        )
    events = summary.events
    if events.published:
        lines.append(
            f"{counted(events.published, 'event')}: {events.delivered:,} of {events.expected:,} deliveries "
            f"made, {events.missing:,} missing, {events.duplicates:,} twice"
        )
    lines.append(f"written to {out}" if out else "--out DIR keeps the rounds, a chart and the assignment")
    return lines


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "nothing to pay"
