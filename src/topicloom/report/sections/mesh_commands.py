"""The commands that run a mesh."""

from __future__ import annotations

from topicloom.report.command_lines import command_line
from topicloom.report.figures import Column, Command, Row, Section, Table
from topicloom.report.sources.subject import MeshSubject, Subject


def make_mesh_commands(subject: Subject) -> Section | None:
    """Return the commands that run the mesh."""
    if not isinstance(subject, MeshSubject):
        return None
    mesh, folder = subject.mesh, subject.folder
    kind = mesh.kind
    hosts = {node.host for node in mesh.nodes}
    own = hosts == {"127.0.0.1"}
    values = {
        "kind of broker": kind,
        "hosts": "all on this machine (127.0.0.1)" if own else f"{len(hosts):,}",
        "accounts": ", ".join(mesh.accounts) or "none",
        **mesh.options,
    }
    return Section(
        title="Make it again",
        lead="Export the build again, start these brokers on this machine and prove what they deliver.",
        notes=["BUILD stands for the folder of the build that was exported."],
        tables=[
            Table(
                key="mesh-parameters",
                title="Parameters",
                columns=[Column("parameter"), Column("value")],
                rows=[Row([name, value]) for name, value in values.items()],
            )
        ],
        commands=[
            Command(
                "Export it again",
                command_line("export", kind, "BUILD", hosts=None if own else "hosts.csv", out=folder),
            ),
            Command("Run it", command_line("run", kind, folder)),
            Command(
                "Kill every broker once",
                command_line("run", kind, folder, kill="all", report="failover.html"),
            ),
        ],
    )
