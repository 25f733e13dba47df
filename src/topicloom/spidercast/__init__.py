"""SpiderCast, the protocol by which nodes find an overlay themselves. Where to look:

protocol/   the node, without clock or socket: messages and time in, effects out
simulator/  many nodes in virtual time
jobs/       what the command does
kernels/    inner loops
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from topicloom.spidercast.protocol.goals import NodeGoals
    from topicloom.spidercast.protocol.gossip import Gossip
    from topicloom.spidercast.protocol.membership import PlainView
    from topicloom.spidercast.protocol.messages import Descriptor
    from topicloom.spidercast.protocol.node import Node
    from topicloom.spidercast.protocol.settings import ProtocolSettings
    from topicloom.spidercast.protocol.signing import EventKeys
    from topicloom.spidercast.simulator.run import simulate
    from topicloom.spidercast.simulator.scenario import Scenario
    from topicloom.wire.core import Deliver, Send

__all__ = [
    "Deliver",
    "Descriptor",
    "EventKeys",
    "Gossip",
    "Node",
    "NodeGoals",
    "PlainView",
    "ProtocolSettings",
    "Scenario",
    "Send",
    "simulate",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Gossip": "protocol.gossip",
        "PlainView": "protocol.membership",
        "Descriptor": "protocol.messages",
        "Node": "protocol.node",
        "NodeGoals": "protocol.goals",
        "EventKeys": "protocol.signing",
        "ProtocolSettings": "protocol.settings",
        "simulate": "simulator.run",
        "Scenario": "simulator.scenario",
        "Deliver": "topicloom.wire.core",
        "Send": "topicloom.wire.core",
    },
)
