"""Binary search in a part of an ascending array."""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import inlined


@inlined
def first_at_least(values: Any, low: Any, high: Any, target: Any) -> Any:
    """Return the first place in the ascending values[low:high] that holds `target` or more, else `high`."""
    while low < high:
        half = (low + high) >> 1
        if values[half] < target:
            low = half + 1
        else:
            high = half
    return low
