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


def test_no_port_is_given_out_twice() -> None:
    """Brokers of one test bind one after the other: a port that two of them were told ends the second."""
    ports = [port for _ in range(40) for port in brokers_present.free_ports(3)]
    assert len(set(ports)) == len(ports)
