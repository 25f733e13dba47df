"""What `import topicloom` offers: notices of a table are warnings about the caller's line."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import topicloom
from topicloom.errors import InputError
from topicloom.overlay.jobs.interest_table import InterestTable


@pytest.mark.parametrize("fails", [False, True])
def test_notices_of_read_are_warnings_about_the_line_that_called_it(monkeypatch, fails):
    def load(table: InterestTable) -> SimpleNamespace:
        def deep() -> None:
            table.notice("an odd header")

        table.notice("rows were refused")
        deep()
        if fails:
            raise InputError("no row is left")
        return SimpleNamespace(interest="read", raw=None)

    monkeypatch.setattr(InterestTable, "load", load)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            assert topicloom.read("table.csv") == "read" and not fails
        except InputError:
            assert fails
    assert [str(one.message) for one in told] == ["rows were refused", "an odd header"]
    assert {Path(one.filename) for one in told} == {Path(__file__)}


def test_bounds_of_another_interest_certify_nothing():
    """A bound that `exact` proved for one interest is no bound for another over the same nodes."""
    triangle = topicloom.build({"a": ["1", "2"], "b": ["1", "3"], "c": ["2", "3"]}, algorithm="exact")
    found = topicloom.measure({"a": ["1"], "b": ["1"], "c": ["1"]}, triangle, certify=True)
    assert found["edges_bound"] == 2 and found["gap"] == pytest.approx(0.5)
