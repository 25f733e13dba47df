"""`topicloom run --rollout`: what came of a roll-out that was played on real brokers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli.console import Screen
from topicloom.cli.tables import figures_table

if TYPE_CHECKING:
    from topicloom.mesh.run.rollout_play import PlayedRollout
    from topicloom.mesh.run.running_mesh import RunSettings


def run_change(
    screen: Screen, kind: str, folder: Path, change: Path, settings: RunSettings, *, turn_back: bool
) -> None:
    """Play the roll-out and show the result; exit 1 if anything came twice or was lost unplanned."""
    from topicloom.mesh.jobs.run import run_rollout

    with screen.working() as progress:
        played = run_rollout(kind, folder, change, settings, turn_back=turn_back, progress=progress)
    screen.report(played, figures_table(None, _figures(played)), _told(played), holds=played.exact)


def _figures(played: PlayedRollout) -> list[tuple[str, str]]:
    return [
        ("brokers", f"{played.nodes:,}"),
        ("states", f"{played.states:,}"),
        ("restarted", f"{played.restarted:,}"),
        ("reloaded", f"{played.reloaded:,}"),
        ("published", f"{played.published:,}"),
        ("delivered", f"{played.delivered:,}"),
        ("duplicates", f"{played.duplicates:,}"),
        ("lost on topics that the plan calls interrupted", f"{played.lost:,}"),
        ("lost on other topics", f"{played.lost_unplanned:,}"),
        ("missing in states at rest", f"{played.missing:,}"),
        ("took", f"{played.seconds:.1f} s"),
    ]


def _told(played: PlayedRollout) -> str:
    if not played.exact_at_the_end:
        return "NOT exact when it was done"
    if played.missing and not (played.duplicates or played.lost_unplanned):
        return "NOT as planned: messages were missing although no broker was away"
    if not played.exact:
        named = f": {', '.join(played.unplanned)}" if played.unplanned else ""
        return f"NOT as planned: messages came twice or were lost on topics that should not be touched{named}"
    proved = (
        "proved: nothing came twice, only what the plan said was interrupted, and all is exact at the end"
    )
    return f"{proved}; it turned back in the middle of phase 2" if played.turned_back else proved
