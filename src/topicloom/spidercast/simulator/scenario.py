"""A simulation as asked for: parameters read and checked before anything begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil, inf
from pathlib import Path
from typing import Any

from topicloom.base.parameters import read_settings
from topicloom.errors import UsageError
from topicloom.overlay.model.interest import Interest
from topicloom.simulation.faults import HALF, Fault, read_faults
from topicloom.simulation.links import Links, check_latency, read_links
from topicloom.simulation.shaping import Shape, read_slow
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.messages import CODEC
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.spidercast.simulator.node_changes import VALUED, Churn, NodeChange
from topicloom.spidercast.simulator.registry import GOSSIP, find_protocol
from topicloom.spidercast.simulator.trace import read_trace

PUBLISH_REST = 5.0  # seconds before the end when publishing ends, so the last events can arrive
TRACE_REST = 12.0  # seconds that a run goes on after the last row of its trace, unless told otherwise
SNAPSHOTS, LEAST_BETWEEN = 50, 0.5  # of a run that is watched: how many, and seconds from one to the next


@dataclass(frozen=True, slots=True)
class Scenario:
    """What to simulate."""

    protocol: str
    values: Mapping[str, Any]
    goals: NodeGoals
    settings: ProtocolSettings
    seed: int

    @classmethod
    def of(cls, protocol: str, settings: Sequence[str], seed: int = 0) -> Scenario:
        """Read `key=value` texts; refuse what is impossible."""
        found = find_protocol(protocol)
        values = read_settings(protocol, found.parameters, settings)
        _check(values)
        node = ProtocolSettings(**{field.name: values[field.name] for field in fields(ProtocolSettings)})
        goals = found.goals_of(values)
        if not (goals.greedy or goals.random):
            raise UsageError(f"`protocol={protocol}`: with these parameters no node wants a link; raise one")
        return cls(protocol, values, goals, node, seed)

    @property
    def gossip(self) -> bool:
        return bool(self.values["view"] == GOSSIP)

    @property
    def share(self) -> float:
        """The share of nodes in a given view."""
        return 1.0 if self.gossip else float(self.values["view"])

    def links(self, interest: Interest) -> Links:
        """Return delays and losses between the nodes of the interest."""
        values = self.values
        names = interest.node_ids.to_pylist()
        links = read_links(values["latency"], values["loss"], interest.n_nodes, self.seed, names)
        changes = self.trace(interest) or ()
        shape = self._shape(names, changing=any(change.kind in VALUED for change in changes))
        return links if shape is None else replace(links, constant=None, shape=shape)

    def _shape(self, names: list[str], *, changing: bool) -> Shape | None:
        """Return what connections add to the delays; None if nothing, now and later."""
        values = self.values
        if not (changing or values["fifo"] or values["setup"] or values["bandwidth"] or values["slow"]):
            return None
        share, factor = read_slow(values["slow"]) if values["slow"] else (0.0, 1.0)
        slow = Fault(0.0, inf, share).struck(names, self.seed, "slow") if share else ()
        return Shape(
            values["fifo"],
            values["setup"],
            values["bandwidth"] or inf,
            dict.fromkeys(slow, factor),
            lambda message: len(CODEC.encode(message)),
        )

    def churn(self, interest: Interest) -> Churn | None:
        values = self.values
        if not values["life"]:
            return None
        off, until = values["off"] or None, values["until"] or inf
        return Churn(
            interest, life=values["life"], off=off, crash=values["crash"], until=until, seed=self.seed
        )

    @property
    def cuts(self) -> list[Fault]:
        """The cuts of the network, as they were written."""
        return read_faults("cut", self.values["cut"], HALF)

    @property
    def freezes(self) -> list[Fault]:
        """When which share of the nodes is paused."""
        return read_faults("freeze", self.values["freeze"])

    def watched(self, interest: Interest) -> Scenario:
        """Return the same scenario with about fifty snapshots, and diameters at the end only.

        A run that ends when it is settled is looked at twice a second.
        """
        values, changes = self.values, self.trace(interest)
        faults = [*self.cuts, *self.freezes]
        known = [values["seconds"], *(fault.end for fault in faults), *(one.time for one in changes or ())]
        every = max(LEAST_BETWEEN, ceil(max(known) / SNAPSHOTS / LEAST_BETWEEN) * LEAST_BETWEEN)
        diameters = "end" if values["diameters"] == "auto" else values["diameters"]
        return replace(self, values={**values, "snapshot": every, "diameters": diameters})

    def trace(self, interest: Interest) -> list[NodeChange] | None:
        return read_trace(self.values["trace"], interest) if self.values["trace"] else None


def _check(values: Mapping[str, Any]) -> None:
    """Refuse combinations that make no sense, in the user's words."""
    if values["view"] == 0:
        raise UsageError("`view=0`: a node that knows nobody finds no neighbor; take more than 0, up to 1")
    if values["loss"] >= 1:
        raise UsageError("`loss=1`: no message would arrive; take less than 1")
    if values["view"] == GOSSIP and not (values["gossip_view"] and values["gossip_shuffle"]):
        raise UsageError("`view=gossip`: gossip_view and gossip_shuffle must be at least 1")
    check_latency(values["latency"])
    if values["slow"]:
        read_slow(values["slow"])
    if values["trace"] and not Path(values["trace"]).is_file():
        raise UsageError(f"`trace={values['trace']}`: there is no such file")
    if values["life"] and values["trace"]:
        raise UsageError("`life=...` and `trace=...` exclude each other: either chance or the file decides")
    faults = [
        *(("cut", fault) for fault in read_faults("cut", values["cut"], HALF)),
        *(("freeze", fault) for fault in read_faults("freeze", values["freeze"])),
    ]
    for name, fault in faults:
        if values["seconds"] and fault.end > values["seconds"]:
            raise UsageError(
                f"`{name}={values[name]}`: it ends at {fault.end:g} s, after the end of the run, "
                f"seconds={values['seconds']:g}"
            )
    for name in ("off", "crash", "until"):
        if values[name] and not values["life"]:
            raise UsageError(f"`{name}={values[name]:g}`: it belongs to churn; set life=SECONDS too")
    if values["life"] and not values["seconds"]:
        raise UsageError("`life=...`: with churn nothing ever settles; set seconds=SECONDS too")
    if values["publish"] and values["seconds"] <= PUBLISH_REST:
        raise UsageError(
            f"`publish=...`: set seconds=SECONDS too, more than {PUBLISH_REST:g}: publishing ends that long "
            "before the end, so that all can arrive"
        )
    for name, least in (("snapshot", 0.01), ("seconds", 0.01)):
        if 0 < values[name] < least:
            raise UsageError(f"`{name}={values[name]:g}`: at least {least:g} seconds")
    if values["settle"] < 1:
        raise UsageError(f"`settle={values['settle']:g}`: at least 1 second, or nothing could happen")
    if values["until"] and values["until"] > values["seconds"]:
        raise UsageError(
            f"`until={values['until']:g}`: it lies after the end of the run, seconds={values['seconds']:g}"
        )
