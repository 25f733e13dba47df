"""One seed, many named streams: a draw here never shifts a draw there.

stream_key(7, "workload", "topics")   a 64-bit key for counter-based kernels
generator(7, "ring-pt", "order")      a numpy Generator
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream_key(seed: int, *names: str) -> int:
    """Return the 64-bit key of the stream `names` under `seed`: the same on every machine and engine.

    >>> stream_key(1, "a", "b") == stream_key(1, "a", "b") != stream_key(1, "ab")
    True
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (str(int(seed)), *names):
        raw = part.encode()
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return int.from_bytes(digest.digest(), "little")


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a numpy generator for the stream `names` under `seed`."""
    return np.random.Generator(np.random.PCG64(stream_key(seed, *names)))
