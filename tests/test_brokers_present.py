"""The marks themselves: an absent program is a skip here and a failure under CI."""

from __future__ import annotations

import pytest

import brokers_present


def test_an_absent_program_is_skipped_but_not_under_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert brokers_present.missing(["no-such-broker", "sh", "json"]) == ["no-such-broker"]
    monkeypatch.setenv("CI", "1")
    assert brokers_present.missing(["no-such-broker"]) == []
    with pytest.raises(pytest.fail.Exception, match="no-such-broker is not installed"):
        brokers_present._found("no-such-broker")
