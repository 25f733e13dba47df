"""Moving an exported mesh to this machine: the same configurations, with loopback addresses and free ports.

Only addresses, ports and paths change, so what runs is what the files say: the links of the relocated mesh
are read from the configurations, not from the manifest, and a bridge that was removed, added or doubled by
hand is there as it is. A certificate names the host of its node, so the check of the host name alone is
switched off where the target can do that; the chain of certificates is checked all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from topicloom.errors import InputError
from topicloom.mesh.kinds.mosquitto.relocate import relocate_mosquitto
from topicloom.mesh.kinds.nats.relocate import relocate_nats
from topicloom.mesh.kinds.zenoh.relocate import relocate_zenoh
from topicloom.mesh.model.folder import read_mesh
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.doors import Doors, FreePort, Relocated

MOVERS = {"mosquitto": relocate_mosquitto, "nats": relocate_nats, "zenoh": relocate_zenoh}


def relocate(folder: Path, mesh: Mesh, free_port: FreePort) -> Relocated:
    """The mesh of this folder on loopback; `free_port` gives a port that nobody uses."""
    if mesh.kind not in MOVERS:
        raise InputError(f"{folder} holds a mesh of kind {mesh.kind!r}; only {', '.join(MOVERS)} can be run")
    return MOVERS[mesh.kind](folder, mesh, Doors(mesh, free_port))


def move_here(folder: Path, free_port: FreePort) -> tuple[Mesh, Mapping[str, str]]:
    """The mesh of a folder, its links as configured there, on loopback; and its changed files."""
    moved = relocate(folder, read_mesh(folder), free_port)
    return moved.mesh, moved.configs
