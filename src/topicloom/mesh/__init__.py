"""Real brokers: from a build to their configurations, and from configurations to proofs. Where to look:

kinds/        Mosquitto, NATS, Zenoh, GossipSub: one folder each, one line each in its registry
plan/         who dials whom, by number and proven; then hosts, ports, files, names, logins
topic_trees/  the spanning trees of topics, their packing into forests, backups, and a checker of its own
run/          brokers started on this machine, and the proof of what they deliver
audit/        what is wrong with configurations, also those written by hand
model/        a mesh and its topic trees as values, its manifest, lines and addresses of configurations
jobs/         what the commands do
kernels/      inner loops
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from topicloom.mesh.kinds.gossipsub.write import export_gossipsub
    from topicloom.mesh.plan.request import Request

__all__ = ["Request", "export_gossipsub"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "export_gossipsub": "kinds.gossipsub.write",
        "Request": "plan.request",
    },
)
