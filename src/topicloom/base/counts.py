"""How counts are written: one topic, two topics."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Write a count.

    >>> counted(1, "topic"), counted(2, "topic"), counted(2, "is", "are")
    ('1 topic', '2 topics', '2 are')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
