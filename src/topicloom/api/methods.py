"""Methods of values that need what stands above them: charts in notebooks, folders."""

from __future__ import annotations

from topicloom.api.arguments import PathLike, check_path, clock
from topicloom.api.comparisons import BuildComparison
from topicloom.base.late_methods import give_method
from topicloom.overlay.model.build import Build, BuildSummary


def _build_html(made: Build) -> str:
    from topicloom.report.notebook import build_html

    return build_html(made)


def _comparison_html(compared: BuildComparison) -> str:
    from topicloom.report.notebook import builds_html

    return builds_html(compared.interest, compared.builds)


def _save(made: Build, path: PathLike) -> BuildSummary:
    from topicloom.overlay.jobs.save_build import save_build

    return save_build(made, check_path("path", path), progress=clock(None))


give_method(Build, "_repr_html_", _build_html)
give_method(Build, "save", _save)
give_method(BuildComparison, "_repr_html_", _comparison_html)
