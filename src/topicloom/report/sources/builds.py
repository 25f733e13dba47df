"""Builds and comparisons: read, proved again, measured. All of them must be of one interest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET
from topicloom.errors import InputError
from topicloom.overlay.measures.bounds import bound_overlays, choose_effort
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.build_folder import (
    EDGES,
    INTEREST,
    is_build,
    load_build,
    read_interest,
    read_summary,
)
from topicloom.overlay.model.interest import Interest
from topicloom.report.sources.files import check_table
from topicloom.report.sources.overlay_view import measure_for_report
from topicloom.report.sources.subject import BoundView, BuildView, OverlaySubject
from topicloom.tables.folder import REJECTS

BOUND_PAIRS = 400_000  # subscriptions up to which lower bounds are searched where no summary has them


def builds_in(folder: Path, kind: str) -> list[Path]:
    """Return the folders of the builds of a build or a comparison."""
    if kind == "build":
        return [folder]
    found = sorted(path for path in folder.iterdir() if path.is_dir() and is_build(path))
    if not found:
        raise InputError(f"comparison {folder} holds no builds; compare again with `out`")
    return found


def read_overlays(
    folders: Sequence[Path], *, bounds: bool = True, progress: Progress = SILENT
) -> OverlaySubject:
    """Read builds of one interest; refuse others, and a summary that its tables contradict."""
    summaries = [read_summary(folder, BuildSummary) for folder in folders]
    for folder in folders:
        check_table(folder / EDGES, {"u": "text", "v": "text"})
        check_table(folder / INTEREST, {"node": "text", "topic": "text"})
    first = summaries[0].interest_digest
    for folder, summary in zip(folders, summaries, strict=True):
        if summary.interest_digest != first:
            raise InputError(
                f"{folders[0]} and {folder} are builds of different tables of interest: they cannot be "
                "compared; give builds of the same table"
            )
    interest = read_interest(folders[0])
    digest = interest_digest(interest)
    if digest != first:
        raise InputError(
            f"{folders[0]} is damaged: {INTEREST} is not the table of its summary; make it again"
        )
    names = distinct_names(summaries)
    views = []
    for folder, summary, name in zip(folders, summaries, names, strict=True):
        progress.phase(f"measure {name}")
        build = load_build(folder, interest=False)
        views.append(view_build(interest, build, summary, name, str(folder), progress))
    found = find_bounds(interest, views, progress=progress) if bounds else None
    rejects = _read_rejects(folders[0])
    return OverlaySubject(
        name=_common_name(folders), interest=interest, builds=tuple(views), bounds=found, rejects=rejects
    )


def view_build(
    interest: Interest, build: Build, summary: BuildSummary, name: str, folder: str, progress: Progress
) -> BuildView:
    """Prove and measure one build; refuse a summary that its edges contradict."""
    overlay = build.overlay
    verdict = check_overlay(interest, overlay, progress=progress)
    told = (summary.edges, summary.topics_partitioned, summary.degree_max)
    found = (overlay.n_edges, verdict.topics_partitioned, int(overlay.degrees().max(initial=0)))
    if told != found:
        raise InputError(
            f"{folder} is damaged: its summary has {told[0]:,} edges, {told[1]:,} split topics and a maximum "
            f"degree of {told[2]:,}, its tables {found[0]:,}, {found[1]:,} and {found[2]:,}; make it again"
        )
    return BuildView(
        name, folder, summary, overlay, verdict, measure_for_report(interest, overlay, progress=progress)
    )


def find_bounds(
    interest: Interest, views: Sequence[BuildView], *, progress: Progress = SILENT
) -> BoundView | None:
    """Return the best lower bounds that the summaries have, or else those a search finds."""
    nodes = max(interest.n_nodes, 1)
    for view in views:
        known = view.summary.certificate
        if known is not UNSET:
            return BoundView(
                known.edges_bound, 2 * known.edges_bound / nodes, known.degree_max_bound, known.bound_method
            )
    if interest.n_subscriptions > BOUND_PAIRS:
        return None
    progress.phase("lower bounds")
    found = bound_overlays(interest, effort=choose_effort(interest), progress=progress)
    return BoundView(found.edges_bound, 2 * found.edges_bound / nodes, found.degree_max_bound, found.method)


def distinct_names(summaries: Sequence[BuildSummary]) -> list[str]:
    """Name builds by their algorithms; several of one algorithm by their seed and number too."""
    names = [summary.algorithm for summary in summaries]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    found: list[str] = []
    for summary in summaries:
        name = summary.algorithm
        if name in repeated:
            name = f"{name}, seed {summary.seed}"
        number = 2
        plain = name
        while name in found:
            name = f"{plain} ({number})"
            number += 1
        found.append(name)
    return found


def _read_rejects(folder: Path) -> dict[str, int]:
    path = folder / REJECTS
    if not path.exists():
        return {}
    try:
        reasons = pq.read_table(path, columns=["reason"]).column("reason").to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is damaged ({str(error).splitlines()[0]}); make the build again") from None
    return dict(Counter(str(reason) for reason in reasons).most_common())


def _common_name(folders: Sequence[Path]) -> str:
    parents = {folder.resolve().parent.name for folder in folders}
    if len(folders) > 1 and len(parents) == 1:
        return parents.pop() or "builds"
    return folders[0].resolve().name or "build"
