"""Sets of small numbers as 64-bit words: the few operations that kernels share."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel


@kernel
def ones(word: Any) -> Any:
    """How many bits of a word are set; no product at the end, which would overflow without compilation."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word += word >> np.uint64(8)
    word += word >> np.uint64(16)
    return np.int64((word + (word >> np.uint64(32))) & np.uint64(0x7F))
