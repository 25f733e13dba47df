"""What cannot be simulated is refused at once, in one sentence that names the parameter."""

from __future__ import annotations

import pytest

from topicloom.errors import InputError, UsageError
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.spidercast.simulator.registry import PROTOCOLS
from topicloom.spidercast.simulator.scenario import Scenario


@pytest.mark.parametrize(
    ("protocol", "settings", "words"),
    [
        ("spidercast", ["view=0"], "`view=0`: a node that knows nobody"),
        ("spidercast", ["view=1.01"], "view = gossip or a number from 0 to 1"),
        ("spidercast", ["view=nan"], "view=nan"),
        ("spidercast", ["kg=-1"], "kg = a whole number of at least 0"),
        ("spidercast", ["kg=0"], "no node wants a link"),
        ("spidercast", ["kr=often"], "kr = adaptive or a whole number"),
        ("spidercast", ["loss=1"], "no message would arrive"),
        ("spidercast", ["crash=0.5"], "`crash=0.5`: it belongs to churn"),
        ("spidercast", ["life=10"], "set seconds=SECONDS too"),
        ("spidercast", ["life=10", "seconds=5", "until=6"], "`until=6`: it lies after the end"),
        ("spidercast", ["publish=3"], "`publish=...`: set seconds=SECONDS too"),
        ("spidercast", ["heartbeat=0"], "`heartbeat=0`: it must be at least 0.001"),
        ("spidercast", ["detector=1"], "longer than a heartbeat"),
        ("spidercast", ["view=gossip", "gossip_view=0"], "gossip_view and gossip_shuffle must be at least 1"),
        ("spidercast", ["kg=0", "kr=adaptive"], "no node wants a link"),
        ("spidercast", ["publish=3", "seconds=4"], "publishing ends that long before the end"),
        ("spidercast", ["snapshot=1e-9"], "`snapshot=1e-09`: at least 0.01 seconds"),
        ("spidercast", ["publish=1e9", "seconds=9"], "publish = a number from 0 to 100000"),
        ("spidercast", ["similar=3"], "spidercast does not know 'similar'"),
        ("similarity", ["similar=0"], "no node wants a link"),
        ("random", ["kg=3"], "random does not know 'kg'"),
        ("chord", [], "`protocol=chord`: choose one of spidercast, similarity, random"),
        ("spidercast", ["kg"], "write it as key=value"),
        ("spidercast", ["latency=5:1"], "shortest delay is longer"),
        ("spidercast", ["latency=-1"], "at least 0 seconds"),
        ("spidercast", ["latency=nowhere.csv"], "no file of that name"),
        ("spidercast", ["trace=nowhere.csv"], "there is no such file"),
        ("spidercast", ["seconds=inf"], "seconds=inf"),
    ],
)
def test_refusals(protocol: str, settings: list[str], words: str) -> None:
    with pytest.raises((UsageError, InputError)) as caught:
        Scenario.of(protocol, settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_defaults_are_those_of_the_protocol(name: str) -> None:
    """Every constant of a node can be set, and unset ones are those of `ProtocolSettings`."""
    scenario = Scenario.of(name, [])
    assert scenario.settings == ProtocolSettings()
    assert Scenario.of(name, ["heartbeat=2", "detector=7"]).settings == ProtocolSettings(
        heartbeat=2.0, detector=7.0
    )
