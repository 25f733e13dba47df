"""A simulation of migrating users as asked for: parameters read and checked before anything begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from topicloom.base.parameters import Parameter, parameters_of, read_settings
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.errors import UsageError
from topicloom.simulation.links import LATENCY, check_latency

_OWN = parameters_of(BrokerSettings)
PARAMETERS: dict[str, Parameter] = {
    "rounds": Parameter("rounds at most", default=40, least=1),
    "settle": Parameter("rounds without a migration after which it ends; 0: never", default=4, least=0),
    "round": _OWN["round"],
    "threshold": _OWN["threshold"],
    "moves": _OWN["moves"],
    "stay": _OWN["stay"],
    "drift": Parameter(
        "share of users whose rates and wants change in each round", default=0.0, least=0, most=1
    ),
    "events": Parameter("users publish; false: only rates and wants are told", default=True),
    "deliveries": Parameter(
        "about so many deliveries in a round, drawn by the rates", default=5_000, least=1
    ),
    "rates": Parameter(
        "told by the users, or counted by brokers", default="told", choices=("told", "counted")
    ),
    "window": _OWN["window"],
    "central": Parameter(
        "the plan to compare with: local search from greedy packing, with everything, or none",
        default="quick",
        choices=("quick", "full", "none"),
    ),
    "decline": Parameter("share of users that decline every move", default=0.0, least=0, most=1),
    "latency": Parameter("seconds a message takes", form=LATENCY, default="0.005:0.05"),
    "max_delay": _OWN["max_delay"],
    "ping": _OWN["ping"],
    "heartbeat": _OWN["heartbeat"],
    "detector": _OWN["detector"],
}


@dataclass(frozen=True, slots=True)
class ContentScenario:
    """What to simulate."""

    values: Mapping[str, Any]
    seed: int

    @classmethod
    def of(cls, settings: Sequence[str], seed: int = 0) -> ContentScenario:
        """Read `key=value` texts; refuse what is impossible.

        >>> ContentScenario.of(["rounds=5"]).values["rounds"]
        5
        """
        values = read_settings("content simulate", PARAMETERS, settings)
        check_latency(values["latency"])
        scenario = cls(values, seed)
        own = scenario.settings(1)
        if not own.round:
            raise UsageError("`round=0`: brokers would never look at their users; take some seconds")
        if values["rates"] == "counted" and not values["events"]:
            raise UsageError("`rates=counted`: without events there is nothing to count; set events=true")
        return scenario

    def settings(self, n_brokers: int) -> BrokerSettings:
        """Return the constants of users and brokers; no path is longer than there are brokers."""
        names = {field.name for field in fields(BrokerSettings)} & self.values.keys()
        own = {name: self.values[name] for name in names}
        return BrokerSettings(longest_path=n_brokers, **own)
