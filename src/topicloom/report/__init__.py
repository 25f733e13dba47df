"""Pages that people look at: one self-contained HTML file for whatever topicloom wrote. Where to look:

sources/   what the folders are: builds, a comparison, a simulation, a mesh, a content plan
sections/  one file per section, listed in its registry
drawing/   where nodes are drawn, and the graph as the page wants it
figures.py what a section is made of: figures, charts, tables, commands
page/      template, styles, scripts, and the libraries that are written into the page
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from topicloom.report.sources.memory import view_builds
    from topicloom.report.write import write_report, write_subject

__all__ = ["view_builds", "write_report", "write_subject"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"view_builds": "sources.memory", "write_report": "write", "write_subject": "write"},
)
