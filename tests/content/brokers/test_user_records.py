"""Counted rates of a user."""

from __future__ import annotations

import pytest

from topicloom.content.brokers.user_records import RateCounter


def test_summaries_fade_and_are_taken_over():
    first = RateCounter(10.0, 0.0)
    for tenth in range(300):
        first.count(2, tenth / 10)
    ((channel, rate),) = first.rates(30.0)
    assert channel == 2 and rate == pytest.approx(10.0, rel=0.1)
    second = RateCounter(10.0, 30.0, first.rates(30.0))
    assert [value for _, value in second.rates(30.0)] == pytest.approx([rate])
    assert second.rates(300.0) == (), "what is no longer published is forgotten"
