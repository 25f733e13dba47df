"""Names for nodes and topics that nobody has named."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def numbered_ids(
    prefix: str, count: int, *, first: int = 1, of: int | None = None, digits: int = 4
) -> pa.StringArray:
    """Return `count` names from number `first` on, padded to `digits` or more: as wide as `of` or the last.

    >>> numbered_ids("n", 3, of=2000).to_pylist()
    ['n0001', 'n0002', 'n0003']
    """
    width = max(len(str(first + count - 1 if of is None else of)), digits)
    numbers = pc.cast(pa.array(np.arange(first, first + count)), pa.string())
    return pc.binary_join_element_wise(prefix, pc.utf8_lpad(numbers, width, "0"), "")
