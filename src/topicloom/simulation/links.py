"""How long a message takes between two nodes, and whether it is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from topicloom.base.seeds import stream_key
from topicloom.errors import InputError, UsageError
from topicloom.simulation.shaping import Shape
from topicloom.tables.small_csv import Row, read_rows

# The row `*,*,seconds` of a latency file holds for all pairs not listed, unless a node is called so.
ANY_NODE = "*"

Delay: TypeAlias = Callable[[Any, Any], float | None]


@dataclass(frozen=True, slots=True)
class Links:
    """`delay(sender, receiver)` in seconds, None for a message that is lost.

    `constant` is the one delay of all messages when there is one and nothing is lost: then nobody need ask
    for each message. Each call draws anew, so the order of calls is part of a run.

    >>> links = Links(lambda sender, receiver: 0.01, constant=0.01)
    >>> links.delay(0, 1), links.constant
    (0.01, 0.01)
    """

    delay: Delay
    constant: float | None = None
    shape: Shape | None = None  # what connections add to the delay


def read_links(latency: str, loss: float, n_nodes: int, seed: int, node_ids: Iterable[str]) -> Links:
    """Return links by the options `latency` and `loss`.

    `latency` is one number of seconds, the ends MIN:MAX of a uniform distribution, or a CSV file with the
    header `u,v,seconds`. There a pair holds for both directions unless each has a row of its own, and the row
    `*,*,seconds` holds for all pairs without one. A share `loss` of all messages never arrives.
    """
    if not 0 <= loss < 1:
        raise UsageError(f"`loss={loss}`: it must be at least 0 and less than 1, the share of messages lost")
    rng = Random(stream_key(seed, "network"))
    ends = _ends(latency)
    if ends is None:
        names = [str(name) for name in node_ids]
        return Links(_lossy(_by_pair(Path(latency), names, n_nodes), loss, rng))
    low, high = ends
    if low == high:
        return Links(_lossy(lambda sender, receiver: low, loss, rng), constant=None if loss else low)
    width, draw = high - low, rng.random
    return Links(_lossy(lambda sender, receiver: low + width * draw(), loss, rng))


LATENCY = "a number, MIN:MAX, or a CSV file with columns u,v,seconds"


def check_latency(latency: str) -> None:
    """Refuse a latency that is neither a number, nor a range, nor a file."""
    if _ends(latency) is None and not Path(latency).is_file():
        raise InputError(
            f"`latency={latency}`: it is no number of seconds, no range MIN:MAX, and no file of that name"
        )


def _lossy(delay: Delay, loss: float, rng: Random) -> Delay:
    if not loss:
        return delay
    draw = rng.random
    return lambda sender, receiver: None if draw() < loss else delay(sender, receiver)


def _ends(latency: str) -> tuple[float, float] | None:
    """Return the shortest and the longest delay; None if the word is neither a number nor two."""
    try:
        values = [float(word) for word in latency.split(":")]
    except ValueError:
        return None
    if len(values) > 2:
        return None
    low, high = values[0], values[-1]
    if not (isfinite(low) and isfinite(high) and low >= 0):
        raise UsageError(f"`latency={latency}`: a message takes at least 0 seconds and a finite time")
    if low > high:
        raise UsageError(f"`latency={latency}`: the shortest delay is longer than the longest; swap them")
    return low, high


def _by_pair(path: Path, names: list[str], n_nodes: int) -> Delay:
    check_latency(str(path))
    given, default = _read_pairs(path, names, n_nodes)
    # Both directions under one key each; a pair that is listed once holds for both.
    both = {receiver * n_nodes + sender: seconds for (sender, receiver), seconds in given.items()}
    both |= {sender * n_nodes + receiver: seconds for (sender, receiver), seconds in given.items()}
    if default is not None:
        get, otherwise = both.get, default
        return lambda sender, receiver: get(sender * n_nodes + receiver, otherwise)
    if len(both) < n_nodes * (n_nodes - 1):
        sender, receiver = _first_missing(both, n_nodes)
        raise InputError(
            f"{path} has no row for {names[sender]!r} and {names[receiver]!r}; add it, or a row "
            f"{ANY_NODE},{ANY_NODE},SECONDS for all pairs that are not listed"
        )
    return lambda sender, receiver: both[sender * n_nodes + receiver]


def _first_missing(both: dict[int, float], n_nodes: int) -> tuple[int, int]:
    return next(
        (sender, receiver)
        for sender in range(n_nodes)
        for receiver in range(n_nodes)
        if sender != receiver and sender * n_nodes + receiver not in both
    )


def _read_pairs(
    path: Path, names: list[str], n_nodes: int
) -> tuple[dict[tuple[int, int], float], float | None]:
    """Return the delay of each (sender, receiver) that has a row, and that of the default row."""
    numbers = {name: number for number, name in enumerate(names[:n_nodes])}
    given: dict[tuple[int, int], float] = {}
    default: float | None = None
    for row in read_rows(path, ("u", "v", "seconds")):
        seconds = row.seconds("seconds")
        if row["u"] == row["v"] == ANY_NODE and ANY_NODE not in numbers:
            _refuse_second(row, default, seconds)
            default = seconds
            continue
        pair = (_number(row, "u", numbers), _number(row, "v", numbers))
        if pair[0] == pair[1]:
            raise row.wrong(f"node {row['u']!r} is paired with itself; take the row out")
        _refuse_second(row, given.get(pair), seconds)
        given[pair] = seconds
    return given, default


def _number(row: Row, column: str, numbers: dict[str, int]) -> int:
    number = numbers.get(row[column])
    if number is None:
        raise row.wrong(f"{row[column]!r} is not a node of the interest")
    return number


def _refuse_second(row: Row, before: float | None, seconds: float) -> None:
    if before is not None and before != seconds:
        raise row.wrong(
            f"{row['u']!r} to {row['v']!r} takes {seconds:g} s here but {before:g} s in a row above; keep one"
        )
