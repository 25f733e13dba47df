"""The protocols that can be simulated, by name, with all their parameters.

To add one, write a function that returns the goals of a node, and enter it in `PROTOCOLS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from topicloom.base.parameters import Parameter, parameters_of
from topicloom.base.registry import Entry, find
from topicloom.simulation.links import LATENCY
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.spidercast.simulator.protocols import random_links, similarity, spidercast

GOSSIP = "gossip"

_WORLD = {
    "view": Parameter(
        "share of all nodes that a node knows; gossip: it finds out", (GOSSIP,), 0, 1, default=1.0
    ),
    "latency": Parameter("seconds a message takes", default="0.01", form=LATENCY),
    "loss": Parameter("share of messages lost", default=0.0, least=0, most=1),
    "fifo": Parameter("messages of a connection arrive in the order they were sent", default=False),
    "setup": Parameter("seconds until a connection is open", default=0.0, least=0),
    "bandwidth": Parameter("bytes per second of a connection; 0: no limit", default=0.0, least=0),
    "slow": Parameter("nodes whose messages take longer, both ways", form="SHARE:FACTOR"),
    "reset": Parameter(
        "connections of a crashed node break at once, and none to it can be opened; else silence",
        default=False,
    ),
    "life": Parameter("mean seconds until a node leaves; 0: nobody leaves", default=0.0, least=0),
    "off": Parameter("mean seconds until it comes back; 0: a quarter of life", default=0.0, least=0),
    "crash": Parameter("share of departures without LEAVE", default=0.0, least=0, most=1),
    "until": Parameter("second from which on nobody comes or goes; 0: never", default=0.0, least=0),
    "cut": Parameter(
        "when a share of the nodes (default 0.5) cannot reach the others",
        form="START:END or START:END:SHARE, several separated by commas",
    ),
    "freeze": Parameter(
        "when a share of the nodes is paused", form="START:END:SHARE, several separated by commas"
    ),
    "trace": Parameter("who comes, goes and publishes when", form="a CSV file time,node,change,topics"),
    "publish": Parameter(
        "events per second, by random nodes on random topics", default=0.0, least=0, most=100_000
    ),
    "seconds": Parameter("simulated seconds; 0: until settled, at most 600", default=0.0, least=0),
    "settle": Parameter("seconds without a new or lost link that count as settled", default=12.0, least=0),
    "snapshot": Parameter("seconds between snapshots; 0: one at the end", default=0.0, least=0),
    "fresh": Parameter("seconds for which a node that joined is left out of snapshots", default=2.0, least=0),
    "diameters": Parameter("measure diameters", default="auto", choices=("auto", "end", "always", "never")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol(Entry):
    """What there is to know about a protocol.

    `goals` makes a node's goals from the protocol's own parameters. `advice` says what may help when topics
    stay split.
    """

    goals: Callable[..., NodeGoals]
    advice: str = ""

    @property
    def own(self) -> Mapping[str, Parameter]:
        """Its own parameters, as `goals` declares them."""
        return parameters_of(self.goals)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Its own, those of the world, and the constants of a node."""
        return {**self.own, **_WORLD, **parameters_of(ProtocolSettings)}

    def goals_of(self, values: Mapping[str, Any]) -> NodeGoals:
        """Return a node's goals, given the values of all parameters."""
        return self.goals(**{name: values[name] for name in self.own})


PROTOCOLS: dict[str, Protocol] = {
    "spidercast": Protocol(
        goals=spidercast,
        aim="every topic of a node is wanted by at least kg + kr of its neighbors",
        paper="Chockler et al., DEBS 2007, sections 2 and 3.3",
        advice="`kr=adaptive`, a larger kg or view may help",
    ),
    "similarity": Protocol(
        goals=similarity,
        aim="a number of links to the most similar nodes, and some to random ones",
        paper="Chockler et al., DEBS 2007, section 3.9.1",
    ),
    "random": Protocol(
        goals=random_links,
        aim="a number of links to random nodes",
        paper="Chockler et al., DEBS 2007, section 3.9.1",
    ),
}


def find_protocol(name: str) -> Protocol:
    """Return the protocol called `name`; raise a UsageError that lists all of them."""
    return find("protocol", PROTOCOLS, name)
