"""Zenoh as an entry of the registry."""

from __future__ import annotations

from topicloom.mesh.kinds.kind import LOGIN_OPTIONS, BrokerKind, RunSupport, Unable
from topicloom.mesh.kinds.zenoh.relocate import relocate_zenoh
from topicloom.mesh.kinds.zenoh.write import LAYOUT, NAMES, export_zenoh

ZENOH = BrokerKind(
    name=NAMES.kind,
    title="Zenoh",
    description="Zenoh: a router per node and class of topics",
    options=LOGIN_OPTIONS,
    write=export_zenoh,
    names=NAMES,
    layout=LAYOUT,
    cannot={
        "trees": "a topic takes the one path that the links of its class leave; the summary tells its hops",
        "durable": "routers keep nothing for a link that is down; publishers with a cache do",
    },
    audit=Unable("its routers deliver once even where links form loops; run the mesh to judge it"),
    run=RunSupport(
        "zenoh.adapter:ZenohAdapter",
        relocate_zenoh,
        baselines=Unable("no probe sees every message that zenoh carries"),
        kill=Unable("links of zenoh have no backups to turn to"),
        # For the proof of strays routers write a line for every message.
        cpu_remark=", tracing included",
    ),
)
