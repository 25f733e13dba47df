"""A content-based planning problem: who publishes and wants what, and what every link costs [Zhao2011].

Users publish on channels (disjoint parts of the content space) and want ranges of channels; each user is to
connect to one broker. Users, brokers and channels are dense numbers here; users and brokers follow the binary
order of their identifiers' UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Bools, Floats, Ints, Longs, freeze_fields, pointers, sealed
from topicloom.base.counts import counted
from topicloom.base.notebook import html_table

SLACK = 1e-9  # share of a capacity that rounding may add to a load


class WantedRanges(NamedTuple):
    """Ranges of numbers that users want, both ends included, sorted by user; those of a user never touch."""

    user: Longs
    first: Longs
    last: Longs

    @classmethod
    def of(cls, user: Any, first: Any, last: Any) -> Self:
        """Sort ranges by user and start, and join those of a user that overlap or touch.

        >>> [column.tolist() for column in WantedRanges.of([1, 0, 0], [5, 3, 0], [6, 4, 2])]
        [[0, 1], [0, 5], [4, 6]]
        """
        user, first, last = (np.asarray(column, dtype=np.int64) for column in (user, first, last))
        order = np.lexsort((last, first, user))
        user, first, last = user[order], first[order], last[order]
        if not len(user):
            return cls(user, first, last)
        # The furthest end so far within the user: ends of later users are shifted above all earlier ones.
        shift = user * (int(last.max()) + 2)
        reach = np.maximum.accumulate(last + shift) - shift
        starts = np.ones(len(user), dtype=np.bool_)
        starts[1:] = (user[1:] != user[:-1]) | (first[1:] > reach[:-1] + 1)
        heads = np.flatnonzero(starts)
        return cls(user[heads], first[heads], reach[np.append(heads[1:], len(user)) - 1])

    def wanted(self, n: int) -> Longs:
        """Count the users that want each of the numbers 0 to n - 1."""
        change = np.bincount(self.first, minlength=n + 1) - np.bincount(self.last + 1, minlength=n + 1)
        return np.cumsum(change)[:n].astype(np.int64)

    def hold(self, user: Longs, number: Longs, n: int) -> Bools:
        """Tell for each k whether `user[k]` wants `number[k]`, which is below n."""
        if not len(self.user):
            return np.zeros(len(user), dtype=np.bool_)
        at = np.searchsorted(self.user * (n + 1) + self.first, user * (n + 1) + number, side="right") - 1
        found = np.maximum(at, 0)
        inside: Bools = (at >= 0) & (self.user[found] == user) & (number <= self.last[found])
        return inside


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ContentProblem:
    """Prices, capacities and traffic; immutable. Rates are messages per second.

    `access[i, b]` is the price of a message between user i and broker b, `core[a, b]` between two brokers
    (symmetric, metric). User i publishes `rates[k]` on channel `rate_channels[k]` for k in
    `rate_ptr[i]:rate_ptr[i+1]` (ascending channels) and wants the channels `want_first[k]..want_last[k]`,
    both included, for k in `want_ptr[i]:want_ptr[i+1]` (ascending, never touching each other).

    What nobody else wants is left out of `rates`. Then `channel_rate[c]` is the total rate of a channel (the
    paper's G_c), `channel_wanted[c]` how many users want it, and `demand[i]` all that passes user i's link:
    what it publishes and what it receives, own messages not counted twice.

    >>> one = ContentProblem.of(["i", "j"], ["b"], [9.0], [[1.0], [2.0]], [[0.0]], 2,
    ...     rates=([0, 0, 1], [0, 1, 1], [3.0, 1.0, 5.0]), wants=([1], [0], [0]))
    >>> one.demand.tolist(), one.channel_rate.tolist()       # nobody wants channel 1
    ([3.0, 3.0], [3.0, 0.0])
    """

    users: pa.StringArray
    brokers: pa.StringArray
    capacity: Floats
    access: Floats
    core: Floats
    rate_ptr: Longs
    rate_channels: Ints
    rates: Floats
    want_ptr: Longs
    want_first: Ints
    want_last: Ints
    channel_rate: Floats
    channel_wanted: Longs
    demand: Floats

    def told(self) -> str:
        """Return its sizes in words."""
        return ", ".join(counted(number, name.removesuffix("s")) for name, number in self.sizes.items())

    def __repr__(self) -> str:
        return f"ContentProblem({self.told()})"

    def _repr_html_(self) -> str:
        loads = {"demand": float(self.demand.sum()), "capacity": float(self.capacity.sum())}
        return html_table("Content problem", self.sizes | loads)

    @property
    def n_users(self) -> int:
        return len(self.users)

    @property
    def n_brokers(self) -> int:
        return len(self.brokers)

    @property
    def n_channels(self) -> int:
        return len(self.channel_rate)

    @property
    def sizes(self) -> dict[str, Any]:
        """The numbers of users, brokers and channels, as summaries name them."""
        return {"users": self.n_users, "brokers": self.n_brokers, "channels": self.n_channels}

    @property
    def load_limits(self) -> Floats:
        """The largest load of each broker: its capacity with a little slack.

        Loads are sums of many floats: a broker that is exactly full on paper must not refuse its last user
        because of rounding. Planners, the evaluator and the bounds all use this one rule.
        """
        return sealed(self.capacity * (1.0 + SLACK))

    @property
    def density(self) -> float:
        """The share of all (user, channel) pairs in which the user wants the channel."""
        pairs = self.n_users * self.n_channels
        return float(self.channel_wanted.sum()) / pairs if pairs else 0.0

    @property
    def rate_users(self) -> Longs:
        """The user of each of `rates`."""
        return np.repeat(np.arange(self.n_users), np.diff(self.rate_ptr))

    @property
    def want_users(self) -> Longs:
        """The user of each wanted range."""
        return np.repeat(np.arange(self.n_users), np.diff(self.want_ptr))

    def subscribers_of(self, channel: int) -> Ints:
        """Return the users that want a channel, ascending."""
        inside = (self.want_first <= channel) & (channel <= self.want_last)
        owner = np.searchsorted(self.want_ptr, np.flatnonzero(inside), side="right") - 1
        return owner.astype(np.int32)

    @classmethod
    def of(
        cls,
        users: Any,
        brokers: Any,
        capacity: Any,
        access: Any,
        core: Any,
        n_channels: int,
        *,
        rates: tuple[Any, Any, Any],
        wants: tuple[Any, Any, Any],
    ) -> Self:
        """Make a problem from columns: `rates` are (user, channel, rate), `wants` (user, first, last).

        Users and brokers are given in the binary order of their names; columns hold their numbers, in any
        order. Rates of the same user and channel add up, wanted ranges that meet become one. Nothing is
        checked here: readers of files do that.
        """
        n_users = len(users)
        want_user, want_first, want_last = ranges = WantedRanges.of(*wants)
        wanted = ranges.wanted(n_channels)
        rate_user, rate_channel, rate = _summed(rates, n_channels)
        own = ranges.hold(rate_user, rate_channel, n_channels)
        useful = (wanted[rate_channel] - own > 0) & (rate > 0)
        rate_user, rate_channel, rate = rate_user[useful], rate_channel[useful], rate[useful]
        own = own[useful]
        total = _added(rate_channel, rate, n_channels)
        before = np.concatenate([[0.0], np.cumsum(total)])
        received = _added(want_user, before[want_last + 1] - before[want_first], n_users)
        received = received - _added(rate_user, rate * own, n_users)
        return cls(
            pa.array(users, pa.string()),
            pa.array(brokers, pa.string()),
            np.ascontiguousarray(capacity, dtype=np.float64),
            np.ascontiguousarray(access, dtype=np.float64).reshape(n_users, len(brokers)),
            np.ascontiguousarray(core, dtype=np.float64).reshape(len(brokers), len(brokers)),
            pointers(rate_user, n_users),
            rate_channel.astype(np.int32),
            rate,
            pointers(want_user, n_users),
            want_first.astype(np.int32),
            want_last.astype(np.int32),
            total,
            wanted,
            _added(rate_user, rate, n_users) + np.maximum(received, 0.0),
        )

    def __post_init__(self) -> None:
        freeze_fields(self)


def _summed(rates: tuple[Any, Any, Any], n_channels: int) -> tuple[Longs, Longs, Floats]:
    """Sort rates by user and channel and add up those of equal pairs."""
    user, channel = (np.asarray(column, dtype=np.int64) for column in rates[:2])
    rate = np.asarray(rates[2], dtype=np.float64)
    width = max(n_channels, 1)
    key = user * width + channel
    if len(key) and np.all(key[1:] > key[:-1]):
        return user, channel, rate
    keys, place = np.unique(key, return_inverse=True)
    return keys // width, keys % width, _added(place, rate, len(keys))


def _added(place: Longs, amount: Floats, n: int) -> Floats:
    """Return the sum of the amounts of every place; floats even where there is nothing to add."""
    return np.bincount(place, weights=amount, minlength=n).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ContentPlan:
    """Which broker each user connects to, and how the plan was made.

    `assignment[i]` is the broker of user i. `seconds` are phases by name; `report` holds figures that
    only this algorithm has; `bound` is a proved lower bound on the cost of every plan, if it finds one.
    """

    assignment: Ints
    algorithm: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)
    bound: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        freeze_fields(self)
