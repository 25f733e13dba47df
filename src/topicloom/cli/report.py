"""`topicloom report`: one page that people can look at and pass on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.base.summaries import Seconds, Summary
from topicloom.cli.console import Screen

EXAMPLES = """
topicloom report my-overlay --out overlay.html
topicloom report comparison --out comparison.html       (a folder of topicloom compare)
topicloom report mesh --run run.json --out mesh.html     (what topicloom run --json printed)
topicloom report plan problem --out plan.html          (a content plan, on the plane of its problem)
topicloom report gm-build gm-m-build --out both.html    (builds of the same table)
"""


class ReportSummary(Summary, frozen=True):
    """What `topicloom report --json` prints."""

    report: str
    bytes: int
    seconds: Seconds


def report(
    screen: Screen,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Builds of one table, a comparison, a simulation, a content plan or an exported mesh.",
            show_default=False,
        ),
    ],
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Hosts of a mesh with columns x and y.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What topicloom run --json printed of a mesh.")
    ] = None,
    *,
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="The page.")],
) -> None:
    """Write one page about results: numbers and what they mean, the proof, charts, the overlay.

    The page is one file that opens from a disk and needs no network.
    """
    from topicloom.report.write import write_report

    with screen.working() as progress:
        start = progress.now()
        write_report(folders, out, hosts=hosts, run=run, progress=progress)
        seconds = progress.now() - start
    size = out.stat().st_size
    summary = ReportSummary(str(out), size, {"total": seconds})
    screen.report(summary, f"written to {out} ({size / 1e6:.1f} MB); open it in a browser")
