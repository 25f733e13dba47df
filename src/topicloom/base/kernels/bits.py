"""Sets of small numbers as 64-bit words: the few operations that kernels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.typing import Signature, signature
from numba.extending import lower_builtin, type_callable


def ones(word: Any) -> Any:
    """Return how many bits of a word are set: in kernels one instruction.

    >>> ones(0b1011)
    3
    """
    return int(word).bit_count()


@type_callable(ones)  # type: ignore[untyped-decorator]
def _type_ones(_context: Any) -> Callable[[Any], Signature]:
    return lambda word: signature(types.int64, types.uint64)


@lower_builtin(ones, types.uint64)  # type: ignore[untyped-decorator]
def _lower_ones(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Ask for the instruction by name: LLVM does not see it in shifts and masks."""
    return builder.ctpop(arguments[0])
