"""Builds and comparisons in notebooks: the charts of a report, in a frame of their own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.report.page_file import Page, render, render_frame, render_plain
from topicloom.report.sections.registry import make_sections
from topicloom.report.sources.memory import view_builds
from topicloom.report.titles import title_of

SHOWN = ("headline", "proof", "compared", "degrees", "subscriptions", "hops")


def build_html(build: Build) -> str:
    """Return one build as HTML; its plain form if its interest is not at hand."""
    return render_plain(repr(build)) if build.interest is None else builds_html(build.interest, [build])


def builds_html(interest: Interest, builds: Sequence[Build]) -> str:
    """Return the charts of builds of one interest as a frame."""
    subject = view_builds(interest, builds, bounds=False)
    names = [view.name for view in subject.builds]
    head = msgspec.structs.replace(title_of(subject), title=" and ".join(names))
    sections = {key: one for key, one in make_sections(subject).items() if key in SHOWN}
    return render_frame(render(Page(head=head, sections=sections)), "Charts of " + ", ".join(names))
