"""How `measure` prints figures."""

from __future__ import annotations

import pytest

from topicloom.cli.measure import FORMS


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [
        ((3, 3), "3"),
        ((3, 1500), "between 3 and 1,500"),
        ((2.5, 2.5), "2.50"),
        ((3.001, 3.004), "between 3.00 and 3.00"),
        ((None, None), "none: no topic is connected"),
    ],
)
def test_bounds_that_differ_are_not_shown_as_exact(bounds, shown):
    assert FORMS["bounds"](bounds) == shown
