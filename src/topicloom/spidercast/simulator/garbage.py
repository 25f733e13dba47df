"""A run without Python's garbage collector, which would search millions of live objects again and again.

The few cycles there are (a node and its tasks, a world and its loop) are small beside them, and wait.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MOST_NODES = 5_000  # of runs that are over: so many may wait until Python collects garbage by itself


class _Left:
    """What runs that are over have left and nobody has collected so far."""

    nodes = 0


@contextmanager
def no_garbage_collection(n_nodes: int) -> Iterator[None]:
    """Turn the garbage collector off for a run of `n_nodes`; first have what earlier runs left collected.

    When it is turned on again it would search all objects of the run, as the youngest ones. By way of
    `freeze` they become old ones without a look.
    """
    was = gc.isenabled()
    if was and _Left.nodes > MOST_NODES:
        gc.collect()
        _Left.nodes = 0
    gc.disable()
    try:
        yield
    finally:
        _Left.nodes += n_nodes
        if was:
            if not gc.get_freeze_count():  # else what others froze would become usual objects too
                gc.freeze()
                gc.unfreeze()
            gc.enable()
