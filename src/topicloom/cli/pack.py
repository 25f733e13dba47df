"""`topicloom pack`: an archive with all that Spark's workers on other machines need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.console import Screen

EXAMPLES = """
topicloom pack env.tar.gz
topicloom build TABLE --out DIR --master spark://HOST:7077 --spark-conf spark.archives=env.tar.gz
"""


def pack(
    out: Annotated[str, typer.Argument(help="Where to write: .tar.gz or .tgz.")],
    screen: Screen,
) -> None:
    """Pack this environment for Spark workers on other machines; give the archive as spark.archives."""
    from topicloom.overlay.spark.warm import warm_tasks
    from topicloom.tables.spark.pack import pack_environment

    with screen.working() as progress:
        report = pack_environment(Path(out), warm_tasks, progress=progress)
    screen.report(
        report,
        f"{report.bytes / 1e6:,.0f} MB written to {out} in {report.seconds['total']:.1f} s: topicloom, "
        f"{', '.join(report.manifest.packages)}",
    )
    screen.say(
        f"next: add --master spark://HOST:PORT --spark-conf spark.archives={out} to a command; the workers "
        f"need {report.manifest.python}"
    )
