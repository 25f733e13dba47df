"""How counts are written: one topic, two topics."""

from __future__ import annotations


def proved_told(topics: int, of_what: str = "") -> str:
    """Say that every topic is connected.

    >>> proved_told(1), proved_told(1000)
    ('proved: the topic is connected', 'proved: each of the 1,000 topics is connected')
    """
    return f"proved{of_what}: {'the topic' if topics == 1 else f'each of the {topics:,} topics'} is connected"


def part_of(number: int, whole: int, what: str, verb: tuple[str, str] = ("is", "are")) -> str:
    """Write how many of all are or do something.

    >>> part_of(1, 3, "topic"), part_of(2, 3, "row", ("was", "were"))
    ('1 of 3 topics is', '2 of 3 rows were')
    """
    return f"{number:,} of {counted(whole, what)} {verb[number != 1]}"


def counted(number: int, one: str, many: str = "") -> str:
    """Write a count.

    >>> counted(1, "topic"), counted(2, "topic"), counted(2, "is", "are")
    ('1 topic', '2 topics', '2 are')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
