"""A simulation of migrating users as asked for: parameters read and checked before anything begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from topicloom.content.brokers.settings import Settings
from topicloom.errors import UsageError
from topicloom.model.parameters import Parameter, read_settings
from topicloom.simulate.network import check_latency

_OWN = Settings()
PARAMETERS: dict[str, Parameter] = {
    "rounds": Parameter(40, "rounds at most", least=1),
    "settle": Parameter(4, "rounds without a migration after which it ends; 0: never", least=0),
    "round": Parameter(_OWN.round, "seconds between two looks of a broker at its users, on average", least=0),
    "threshold": Parameter(_OWN.threshold, "share of a user's cost that a move must save", least=0, most=1),
    "moves": Parameter(_OWN.moves, "moves that a broker begins in a round at most", least=1),
    "stay": Parameter(_OWN.stay, "rounds for which a user that has moved is left alone", least=0),
    "drift": Parameter(0.0, "share of users whose rates and wants change in each round", least=0, most=1),
    "events": Parameter(True, "users publish; false: only rates and wants are told"),
    "deliveries": Parameter(5_000, "about so many deliveries in a round, drawn by the rates", least=1),
    "rates": Parameter("told", "told by the users, or counted by brokers", choices=("told", "counted")),
    "window": Parameter(_OWN.window, "time constant of counted rates, seconds", least=0),
    "central": Parameter(
        "quick", "the plan to compare with: local search from greedy packing, with everything, or none",
        choices=("quick", "full", "none"),
    ),
    "decline": Parameter(0.0, "share of users that decline every move", least=0, most=1),
    "latency": Parameter(
        "0.005:0.05", "seconds a message takes",
        form="a number, MIN:MAX, or a CSV file with columns u,v,seconds",
    ),
    "max_delay": Parameter(_OWN.max_delay, "seconds that no message exceeds", least=0),
    "ping": Parameter(_OWN.ping, "seconds between two questions of a client to its broker", least=0),
    "heartbeat": Parameter(_OWN.heartbeat, "seconds between signs of life among brokers", least=0),
    "detector": Parameter(_OWN.detector, "seconds of silence after which a broker counts as dead", least=0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContentScenario:
    """What to simulate."""

    values: Mapping[str, Any]
    seed: int

    @classmethod
    def of(cls, settings: Sequence[str], seed: int = 0) -> ContentScenario:
        """From `key=value` texts; what cannot be is refused here.

        >>> ContentScenario.of(["rounds=5"]).values["rounds"]
        5
        """
        values = read_settings("content simulate", PARAMETERS, settings)
        check_latency(values["latency"])
        scenario = cls(values, seed)
        own = scenario.settings(1)
        if not own.round:
            raise UsageError("--set round=0: brokers would never look at their users; take some seconds")
        if values["rates"] == "counted" and not values["events"]:
            raise UsageError("--set rates=counted: without events there is nothing to count; set events=true")
        return scenario

    def settings(self, n_brokers: int) -> Settings:
        """The constants of clients and brokers; no path is longer than there are brokers."""
        names = {field.name for field in fields(Settings)} & self.values.keys()
        own = {name: self.values[name] for name in names}
        try:
            return Settings(longest_path=n_brokers, **own)
        except UsageError as error:
            raise UsageError(f"--set {error}") from None
