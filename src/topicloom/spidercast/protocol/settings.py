"""The constants of the protocol, as [Chockler2007b] and our own runs recommend them. Times in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topicloom.base.parameters import Parameter, check_constants
from topicloom.errors import UsageError


@dataclass(frozen=True, slots=True)
class ProtocolSettings:
    """How a node behaves; equal for all nodes of an overlay as a rule, though nothing depends on it."""

    margin: Annotated[int, Parameter("links accepted beyond what is needed at most", least=0)] = 5
    connect_timeout: Annotated[float, Parameter("seconds between two steps of maintenance", least=0)] = 0.1
    heartbeat: Annotated[float, Parameter("seconds between two heartbeats", least=0)] = 1.0
    detector: Annotated[
        float, Parameter("seconds of silence after which a neighbor is given up", least=0)
    ] = 3.0
    doubt: Annotated[
        float,
        Parameter("heartbeats of silence after which a neighbor no longer counts for coverage", least=0),
    ] = 1.5
    """A neighbor silent for so many heartbeats no longer counts for coverage, though it stays one until
    `detector` seconds have passed: its replacement is found before it is given up."""
    connect_quarantine: Annotated[
        float, Parameter("seconds before a second CONNECT to the same node", least=0)
    ] = 2.0
    disconnect_quarantine: Annotated[
        float, Parameter("seconds before a second DISCONNECT to the same neighbor", least=0)
    ] = 10.0

    gossip_view: Annotated[int, Parameter("nodes that a gossip view holds", least=0)] = 50
    gossip_shuffle: Annotated[int, Parameter("nodes that gossip exchanges at a time", least=0)] = 10
    gossip_period: Annotated[float, Parameter("seconds between two exchanges of gossip", least=0)] = 1.0
    gossip_forget: Annotated[
        float, Parameter("seconds after which gossip forgets a node that nobody heard of", least=0)
    ] = 30.0

    keep_events: Annotated[int, Parameter("events that a node keeps for repair", least=0)] = 1_000
    keep_seconds: Annotated[float, Parameter("seconds for which it keeps them", least=0)] = 60.0
    remember_ids: Annotated[
        int, Parameter("events that a node remembers so that none is delivered twice", least=0)
    ] = 10_000
    announce_delay: Annotated[float, Parameter("seconds before lazy links are told of an event", least=0)] = (
        0.05
    )
    announce_rounds: Annotated[
        int,
        Parameter("heartbeats for which an event is announced again to those not known to have it", least=0),
    ] = 3
    repair_timeout: Annotated[float, Parameter("seconds before an announced event is asked for", least=0)] = (
        0.2
    )
    ordered: Annotated[bool, Parameter("deliver the events of each publisher on a topic in order")] = False
    order_wait: Annotated[float, Parameter("seconds to wait for a missing event when ordered", least=0)] = 5.0
    relay_seconds: Annotated[
        float, Parameter("age up to which a newcomer fetches events for others that may miss them", least=0)
    ] = 10.0
    """An event younger than this is asked for even by a node that subscribed after it: not for its own
    application, only for others that may miss it and have no other way to it."""

    def __post_init__(self) -> None:
        clocks = ("connect_timeout", "heartbeat", "detector", "doubt", "gossip_period", "repair_timeout")
        check_constants(self, clocks=clocks)
        if self.detector <= self.heartbeat:
            raise UsageError(
                f"`detector={self.detector}`: it must be longer than a heartbeat ({self.heartbeat} s), "
                "or every neighbor is given up"
            )
