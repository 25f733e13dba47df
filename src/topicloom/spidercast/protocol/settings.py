"""The constants of the protocol, as [Chockler2007b] and our own runs recommend them. Times in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from topicloom.base.parameters import Parameter, check_constants
from topicloom.errors import UsageError

amount = partial(Parameter, least=0)


@dataclass(frozen=True, slots=True)
class ProtocolSettings:
    """How a node behaves. Nodes of one overlay usually share these, but nothing depends on it."""

    margin: Annotated[int, amount("links accepted beyond what is needed at most")] = 5
    connect_timeout: Annotated[float, amount("seconds between two steps of maintenance")] = 0.1
    heartbeat: Annotated[float, amount("seconds between two heartbeats")] = 1.0
    detector: Annotated[float, amount("seconds of silence after which a neighbor is given up")] = 3.0
    # `doubt` is well below `detector`: a replacement is found before the neighbor is given up.
    doubt: Annotated[
        float, amount("heartbeats of silence after which a neighbor no longer counts for coverage")
    ] = 1.5
    connect_quarantine: Annotated[float, amount("seconds before a second CONNECT to the same node")] = 2.0
    disconnect_quarantine: Annotated[
        float, amount("seconds before a second DISCONNECT to the same neighbor")
    ] = 10.0
    # See probes.py: only where topics have roots.
    probe: Annotated[float, amount("seconds between two looks whether a topic has another root")] = 5.0
    gossip_view: Annotated[int, amount("nodes that a gossip view holds")] = 100
    gossip_shuffle: Annotated[int, amount("nodes that gossip exchanges at a time")] = 20
    gossip_period: Annotated[float, amount("seconds between two exchanges of gossip")] = 1.0
    gossip_seed: Annotated[float, amount("seconds between two exchanges with an entry point")] = 10.0
    gossip_forget: Annotated[
        float, amount("seconds after which gossip forgets a node that nobody heard of")
    ] = 30.0
    keep_bytes: Annotated[int, amount("bytes of events that a node keeps for repair")] = 64 << 20
    keep_seconds: Annotated[float, amount("seconds for which it keeps them")] = 60.0
    remember_ids: Annotated[int, amount("events that a node remembers so that none is delivered twice")] = (
        500_000
    )
    remember_bytes: Annotated[int, amount("bytes that it spends on remembering them")] = 64 << 20
    max_payload: Annotated[int, amount("bytes that one event may have")] = 1 << 20
    # Events that others say they hold; a hostile neighbor gets a quarter of the places at most.
    max_missing: Annotated[int, amount("events that a node asks for at a time")] = 100_000
    announce_delay: Annotated[float, amount("seconds before lazy links are told of an event")] = 0.03
    announce_rounds: Annotated[
        int, amount("heartbeats for which an event is announced again to those not known to have it")
    ] = 3
    repair_timeout: Annotated[float, amount("seconds before an announced event is asked for")] = 0.2
    ordered: Annotated[bool, Parameter("deliver the events of each publisher on a topic in order")] = False
    order_wait: Annotated[float, amount("seconds to wait for a missing event when ordered")] = 5.0
    # A node that subscribed after an event still fetches it: not for its own application, only for others
    # that may miss it and have no other path to it.
    relay_seconds: Annotated[
        float, amount("age up to which a newcomer fetches events for others that may miss them")
    ] = 10.0

    def __post_init__(self) -> None:
        clocks = (
            "connect_timeout", "heartbeat", "detector", "doubt", "probe", "gossip_period", "gossip_seed",
            "repair_timeout",
        )  # fmt: skip
        check_constants(self, clocks=clocks)
        if self.detector <= self.heartbeat:
            raise UsageError(
                f"`detector={self.detector}`: it must be longer than a heartbeat ({self.heartbeat} s), "
                "or every neighbor is given up"
            )
