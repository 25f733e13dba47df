"""Constants of users and brokers that cannot work."""

from __future__ import annotations

from math import inf

import pytest

from topicloom.content.brokers.settings import BrokerSettings
from topicloom.errors import UsageError


def test_settings_that_cannot_work_are_refused():
    for wrong in ({"max_delay": 0.0}, {"detector": 1.0}, {"round": -1.0}, {"window": inf}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            BrokerSettings(**wrong)
