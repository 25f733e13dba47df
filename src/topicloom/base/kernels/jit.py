"""How a kernel is compiled: cached on disk, without the interpreter lock, no fast maths.

Kernels are single-threaded; `parallel.py` runs several calls side by side. That compiles far faster than
numba's own threading, survives Spark's forked workers, and gives the same result for any thread count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, types
from numba.core import event
from numba.core.dispatcher import Dispatcher

from topicloom.base.first_use import compiled, compiling
from topicloom.base.kernels.freshness import keep_fresh


class _FirstUse(event.TimingListener):  # type: ignore[misc]
    """Hears what is really compiled; what comes from the disk is not.

    A kernel that compiles others is timed once, by the compiler's own clock.
    """

    def on_start(self, event: Any) -> None:
        compiling()
        super().on_start(event)

    def on_end(self, event: Any) -> None:
        before = self.duration if self.done else 0.0
        super().on_end(event)
        if self.done:
            compiled(self.duration - before)


event.register("numba:compile", _FirstUse())

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` on first use; the machine code is cached on disk."""
    compiled: F = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    keep_fresh(compiled, function)
    return compiled


def part(function: F) -> F:
    """Compile `function` for kernels alone: it lies on disk inside each kernel that calls it.

    Python must not call it. What Python would need is most of what a small function takes to compile: a
    wrapper that unpacks forty arrays, and machine code of its own.
    """
    compiled: F = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True)(
        function
    )
    _widen(compiled)
    return compiled


def bare(function: F) -> F:
    """Compile a part that counts no references: it makes no arrays and keeps none.

    A call that hands a tuple of forty arrays over counts each up and down, with atomic instructions; in small
    functions of a hot loop that is most of the time. Slices of arrays may be read, not assigned from others.
    """
    compiled: F = njit(
        nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=False
    )(function)
    _widen(compiled)
    return compiled


def _widen(compiled: Any) -> None:
    """Have narrow integers handed over as 64 bits: a node of an array and a counted one are one signature.

    So are `True` and `False` written out.
    """
    if not isinstance(compiled, Dispatcher):
        return  # compilation is switched off
    template = compiled.get_call_template

    def wide_template(args: Any, kws: Any) -> Any:
        return template(tuple(map(_wide, args)), {name: _wide(kind) for name, kind in kws.items()})

    compiled.get_call_template = wide_template  # type: ignore[method-assign]


def _wide(kind: Any) -> Any:
    if isinstance(kind, types.BooleanLiteral):
        return types.boolean
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def inlined(function: F) -> F:
    """Write `function`, a line or two, into each kernel that calls it; Python may call it too."""
    compiled: F = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True, inline="always")(
        function
    )
    keep_fresh(compiled, function)
    return compiled
