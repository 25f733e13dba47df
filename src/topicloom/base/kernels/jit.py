"""How a kernel is compiled: cached on disk, without the interpreter lock, no fast maths.

Kernels are single-threaded; `parallel.py` runs several calls side by side. That compiles far faster than
numba's own threading, survives Spark's forked workers, and gives the same result for any thread count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from numba import njit

from topicloom.base.kernels.freshness import keep_fresh

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` on first use; the machine code is cached on disk."""
    compiled: F = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    keep_fresh(compiled, function)
    return compiled
