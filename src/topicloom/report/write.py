"""Write a report: read the folders, make the sections, draw, render, and put one file in its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topicloom.base.atomic_write import check_writable, replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import UsageError
from topicloom.report.drawing.registry import make_drawing
from topicloom.report.page_file import Page, render
from topicloom.report.sections.registry import make_sections
from topicloom.report.sources.meshes import read_run
from topicloom.report.sources.recognise import read_subject
from topicloom.report.sources.subject import Subject, without
from topicloom.report.titles import title_of

SUFFIXES = (".html", ".htm")


def check_report_path(out: Path) -> None:
    """Refuse a file that is no page, before any work is done."""
    if out.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a report is an HTML page: give it a name that ends in .html, not {out.name}")
    if out.is_dir():
        raise UsageError(f"{out} is a folder; name a file for the report")
    check_writable(out, out)


def write_report(
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    hosts: str | Path | None = None,
    run: str | Path | None = None,
    passing: str | None = None,
    progress: Progress = SILENT,
) -> Path:
    """Write one page about the folders: builds of one interest, or one other result; return its path.

    With a mesh, `hosts` is a table of hosts with coordinates, `run` what `topicloom run --json` printed.
    `passing` is a folder that will be gone: the page calls it DIR.
    """
    path = Path(out)
    check_report_path(path)
    subject = read_subject(
        [Path(folder) for folder in folders],
        hosts=None if hosts is None else Path(hosts),
        run=None if run is None else read_run(Path(run)),
        progress=progress,
    )
    return write_subject(subject if passing is None else without(subject, passing), path, progress=progress)


def write_subject(subject: Subject, out: Path, *, progress: Progress = SILENT) -> Path:
    """Write the page about something that was read or made already; whole or not at all."""
    check_report_path(out)
    text = render(make_page(subject, progress=progress))
    with replacing(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return out


def make_page(subject: Subject, *, drawn: bool = True, progress: Progress = SILENT) -> Page:
    """Return the page as values; without the drawing if that is not wanted."""
    sections = make_sections(subject)
    drawing = make_drawing(subject, progress=progress) if drawn else None
    if drawing is None:
        sections = {key: section for key, section in sections.items() if not section.drawing}
    return Page(head=title_of(subject), sections=sections, drawing=drawing)
