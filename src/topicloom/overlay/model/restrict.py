"""The interest of some of the nodes: what one group of a divide and conquer sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.overlay.model.interest import Interest


def restrict_interest(interest: Interest, nodes: NDArray[Any]) -> Interest:
    """The subscriptions of `nodes` (ascending, distinct); node i of the result is `nodes[i]`.

    Topics keep their numbers, and the order of the nodes stays that of their identifiers.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
    >>> part = restrict_interest(interest, np.array([0, 2]))
    >>> part.node_ids.to_pylist(), part.topics_of(1).tolist(), part.topic_sizes().tolist()
    (['a', 'c'], [1], [1, 1])
    """
    starts = interest.node_ptr[nodes]
    sizes = interest.node_ptr[nodes + 1] - starts
    ends = np.cumsum(sizes)
    source = np.arange(ends[-1] if len(nodes) else 0) + np.repeat(starts - (ends - sizes), sizes)
    return Interest.from_codes(
        interest.node_ids.take(pa.array(nodes)),
        interest.topic_ids,
        np.repeat(np.arange(len(nodes), dtype=np.int32), sizes),
        interest.node_topics[source],
        None if interest.roles is None else interest.roles[source],
        None if interest.rates is None else interest.rates[source],
    )
