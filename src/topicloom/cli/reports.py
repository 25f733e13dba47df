"""`--report FILE`: what commands that make results share to write a page about them too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from topicloom.base.progress import Progress
from topicloom.cli.console import Screen


@contextmanager
def result_folder(out: Path | None, report: Path | None, name: str) -> Iterator[Path | None]:
    """Give the folder for a result: `out`, or a passing one if only a report is wanted, or none.

    A file that cannot be a report is refused before any work is done.
    """
    if report is not None:
        from topicloom.report.write import check_report_path

        check_report_path(report)
    if out is not None or report is None:
        yield out
        return
    with TemporaryDirectory(prefix="topicloom-") as folder:
        yield Path(folder) / name


def write_page(
    report: Path | None, folders: list[Path | None], out: Path | None, screen: Screen, progress: Progress
) -> None:
    """Write the page about these folders, if one was asked for."""
    if report is None:
        return
    from topicloom.report.write import write_report

    given = [folder for folder in folders if folder is not None]
    passing = str(given[0]) if out is None else None
    write_report(given, report, passing=passing, progress=progress)
    screen.say(f"report: {report}")
