"""The commands that run a mesh."""

from __future__ import annotations

from topicloom.report.command_lines import command_line
from topicloom.report.figures import (
    Command,
    Section,
)
from topicloom.report.sources.subject import MeshSubject, Subject


def make_mesh_commands(subject: Subject) -> Section | None:
    """Return the commands that run the mesh."""
    if not isinstance(subject, MeshSubject):
        return None
    kind, folder = subject.mesh.kind, subject.folder
    return Section(
        title="Make it again",
        lead="Start these brokers on this machine and prove what they deliver.",
        commands=[
            Command("Run it", command_line("run", kind, folder)),
            Command(
                "Kill every broker once",
                command_line("run", kind, folder, kill="all", report="failover.html"),
            ),
        ],
    )
