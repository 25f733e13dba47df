"""Moving an exported mesh to this machine: the same configurations, with loopback addresses and free ports.

Only addresses, ports and paths change, so what runs is what the files say: the links of the relocated mesh
are read from the configurations, not from the manifest, and a bridge that was removed, added or doubled by
hand is there as it is. A certificate names the host of its node, so the check of the host name alone is
switched off where the target can do that; the chain of certificates is checked all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.port_map import FreePort, PortMap, Relocate

Placement = Callable[[Path, FreePort], tuple[Mesh, Mapping[str, str]]]
"""Given a folder and a source of free ports: its mesh on the loopback address, and the changed files."""


def move_here(relocate: Relocate) -> Placement:
    """Places the mesh of a folder, its links as configured there, as this kind of broker is relocated."""

    def place(folder: Path, free_port: FreePort) -> tuple[Mesh, Mapping[str, str]]:
        mesh = read_mesh(folder)
        moved = relocate(folder, mesh, PortMap(mesh, free_port))
        return moved.mesh, moved.configs

    return place
