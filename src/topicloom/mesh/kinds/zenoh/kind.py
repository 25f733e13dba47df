"""Zenoh, all of it: what the registry holds."""

from __future__ import annotations

from topicloom.mesh.kinds.kind import LOGIN_OPTIONS, BrokerKind, RunSupport, Unable
from topicloom.mesh.kinds.zenoh.names import NAMES
from topicloom.mesh.kinds.zenoh.relocate import relocate_zenoh
from topicloom.mesh.kinds.zenoh.write import export_zenoh
from topicloom.mesh.run.adapter import BrokerAdapter


def _load() -> BrokerAdapter:
    from topicloom.mesh.kinds.zenoh.adapter import ZenohAdapter

    return ZenohAdapter()


ZENOH = BrokerKind(
    name=NAMES.kind,
    title="Zenoh",
    description="Zenoh: a router per node and class of topics",
    options=LOGIN_OPTIONS,
    write=export_zenoh,
    names=NAMES,
    audit=Unable("its routers deliver once even where links form loops; run the mesh to judge it"),
    run=RunSupport(
        _load,
        relocate_zenoh,
        rivals=Unable("no probe sees every message that zenoh carries"),
        kill=Unable("links of zenoh have no backups to turn to"),
        # For the proof of strays routers write a line for every message.
        cpu_remark=", tracing included",
    ),
)
