"""The protocols that can be simulated, by name, with all their parameters: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from topicloom.errors import UsageError
from topicloom.model.parameters import Parameter
from topicloom.protocol.plan import Plan
from topicloom.protocol.settings import Settings

ADAPTIVE, GOSSIP = "adaptive", "gossip"

_NODE_HELP = {
    "margin": "links accepted beyond what is needed at most",
    "connect_timeout": "seconds between two steps of maintenance",
    "heartbeat": "seconds between two heartbeats",
    "detector": "seconds of silence after which a neighbor is given up",
    "doubt": "heartbeats of silence after which a neighbor no longer counts for coverage",
    "connect_quarantine": "seconds before a second CONNECT to the same node",
    "disconnect_quarantine": "seconds before a second DISCONNECT to the same neighbor",
    "gossip_view": "nodes that a gossip view holds",
    "gossip_shuffle": "nodes that gossip exchanges at a time",
    "gossip_period": "seconds between two exchanges of gossip",
    "gossip_forget": "seconds after which gossip forgets a node that nobody heard of",
    "keep_events": "events that a node keeps for repair",
    "keep_seconds": "seconds for which it keeps them",
    "remember_ids": "events that a node remembers so that none is delivered twice",
    "announce_delay": "seconds before lazy links are told of an event",
    "announce_rounds": "heartbeats for which an event is announced again to those not known to have it",
    "repair_timeout": "seconds before an announced event is asked for",
    "ordered": "deliver the events of each publisher on a topic in order",
    "relay_seconds": "age up to which a newcomer fetches events for others that may miss them",
    "order_wait": "seconds to wait for a missing event when ordered",
}


def _node_parameters() -> dict[str, Parameter]:
    """The constants of a node, with the defaults of `Settings`."""
    return {
        field.name: Parameter(
            field.default,  # type: ignore[arg-type]
            _NODE_HELP[field.name],
            least=None if isinstance(field.default, bool) else 0,
        )
        for field in fields(Settings)
        if field.name in _NODE_HELP
    }


_WORLD = {
    "view": Parameter(
        1.0, "share of all nodes that a node knows; gossip: it finds out", choices=(GOSSIP,), least=0, most=1
    ),
    "latency": Parameter(
        "0.01", "seconds a message takes", form="a number, MIN:MAX, or a CSV file with columns u,v,seconds"
    ),
    "loss": Parameter(0.0, "share of messages lost", least=0, most=1),
    "life": Parameter(0.0, "mean seconds until a node leaves; 0: nobody leaves", least=0),
    "off": Parameter(0.0, "mean seconds until it comes back; 0: a quarter of life", least=0),
    "crash": Parameter(0.0, "share of departures without LEAVE", least=0, most=1),
    "until": Parameter(0.0, "second from which on nobody comes or goes; 0: never", least=0),
    "trace": Parameter("", "who comes, goes and publishes when", form="a CSV file time,node,change,topics"),
    "publish": Parameter(0.0, "events per second, by random nodes on random topics", least=0, most=100_000),
    "seconds": Parameter(0.0, "simulated seconds; 0: until settled, at most 600", least=0),
    "settle": Parameter(12.0, "seconds without a new or lost link that count as settled", least=0),
    "snapshot": Parameter(0.0, "seconds between snapshots; 0: one at the end", least=0),
    "fresh": Parameter(2.0, "seconds for which a node that joined is left out of snapshots", least=0),
    "diameters": Parameter("auto", "measure diameters", choices=("auto", "end", "always", "never")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Protocol:
    """What there is to know about a protocol; `plan` makes a node's plan of its own parameters."""

    plan: Callable[[Mapping[str, Any]], Plan]
    aim: str
    paper: str
    own: Mapping[str, Parameter]

    @property
    def parameters(self) -> dict[str, Parameter]:
        return {**self.own, **_WORLD, **_node_parameters()}


def _coverage(values: Mapping[str, Any]) -> Plan:
    adaptive = values["kr"] == ADAPTIVE
    return Plan(values["kg"], 0 if adaptive else values["kr"], adaptive=adaptive)


PROTOCOLS: dict[str, Protocol] = {
    "spidercast": Protocol(
        _coverage,
        "every topic of a node is wanted by at least kg + kr of its neighbors",
        "Chockler et al., DEBS 2007, sections 2 and 3.3",
        {
            "kg": Parameter(3, "neighbors per topic chosen greedily", least=0),
            "kr": Parameter(
                0, "neighbors per topic chosen at random; adaptive: as 3.3.1", choices=(ADAPTIVE,), least=0
            ),
        },
    ),
    "similarity": Protocol(
        lambda values: Plan(values["similar"], values["random"], by_coverage=False),
        "a number of links to the most similar nodes, and some to random ones",
        "Chockler et al., DEBS 2007, section 3.9.1",
        {
            "similar": Parameter(10, "links to the nodes with most topics in common", least=0),
            "random": Parameter(0, "links to random nodes", least=0),
        },
    ),
    "random": Protocol(
        lambda values: Plan(0, values["random"], by_coverage=False),
        "a number of links to random nodes",
        "Chockler et al., DEBS 2007, section 3.9.1",
        {"random": Parameter(10, "links to random nodes", least=0)},
    ),
}


def find_protocol(name: str) -> Protocol:
    """The protocol called `name`, or a UsageError that lists all of them."""
    if name not in PROTOCOLS:
        raise UsageError(f"--protocol {name}: there are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
