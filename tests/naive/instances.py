"""Instances with a known answer, built as the papers describe them."""

from __future__ import annotations

from itertools import product

from topicloom.model.interest import Interest


def lemma_6_6(k: int, m: int) -> Interest:
    """The instance of paper 002, Lemma 6.6 (m > 2): GM takes 2k + km edges where 2k + 2m are enough.

    Topics fill a cuboid 2 x (2^k - 1) x m. `stwo` nodes want one of the 2 planes each, `sm` nodes one of
    the m planes each; `sk` node i wants the i-th block of 2^(i-1) columns, in both planes, all m deep.
    """
    pairs = []
    for plane, column, depth in product((1, 2), range(1, 2**k), range(1, m + 1)):
        topic = f"t{plane}-{column:04d}-{depth:04d}"
        block = column.bit_length()  # columns 1 | 2 3 | 4 5 6 7 | ...: blocks of 1, 2, 4, ... columns
        pairs += [(f"stwo{plane}", topic), (f"sk{block:04d}", topic), (f"sm{depth:04d}", topic)]
    return Interest.from_pairs(pairs)
