"""Users put together by the traffic between them [Zhao2011, Algorithm 2].

The traffic of users i and j counts both directions: b_ij = sum over c of g[i,c] s[j,c] + g[j,c] s[i,c], with
g rates and s 1 where a channel is wanted. Wanted channels come in ranges, so with the running sums of each
user's rates b_ij costs a few look-ups; it is never tabled. `before` holds these sums: those of user i begin
at rate_ptr[i] + i with a 0.

Ratios of traffic to price are compared by cross-multiplication: with traffic, a price of 0 is better than any
other; no traffic is 0 whatever the price.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import kernel
from topicloom.content.kernels.placement import roomiest


@kernel
def beats(traffic: float, price: float, best_traffic: float, best_price: float) -> bool:
    """Is traffic / price the larger ratio, or the same at a lower price?"""
    left, right = traffic * best_price, best_traffic * price
    if left != right:
        return left > right
    if (traffic > 0) != (best_traffic > 0):
        return traffic > 0
    return price < best_price


@kernel
def _sent(rate_ptr: Any, channels: Any, before: Any, i: int, firsts: Any, ends: Any, top: int) -> Any:
    """The rate of user i on the channels firsts[k]..ends[k] - 1, for all k; `top` is the number of channels.

    The channels of i ascend, so at least c - (top - n) and at most c of all n are below c: the search for
    the place of c begins between the two, and is over at once for a user that publishes everywhere.
    """
    start = rate_ptr[i]
    n = rate_ptr[i + 1] - start
    total = 0.0
    for k in range(2 * len(firsts)):
        c = ends[k >> 1] if k & 1 else firsts[k >> 1]
        low, high = max(c - (top - n), 0), min(c, n)
        while low < high:
            middle = (low + high) >> 1
            if channels[start + middle] < c:
                low = middle + 1
            else:
                high = middle
        total += before[start + i + low] if k & 1 else -before[start + i + low]
    return total


@kernel
def scan_windows(
    user: int,
    stop: int,
    rate_ptr: Any,
    channels: Any,
    before: Any,
    firsts: Any,
    ends: Any,
    below: Any,
    sends: Any,
    gets: Any,
) -> None:
    """What the users user..stop-1 send on the windows firsts[k]..ends[k] - 1: the largest of each.

    `sends` is the most of a user, `gets` of a window; `below` is scratch, a user's rate below each channel.
    """
    for i in range(user, stop):
        at = rate_ptr[i]
        for c in range(len(below)):
            while at < rate_ptr[i + 1] and channels[at] < c:
                at += 1
            below[c] = before[at + i]
        most = 0.0
        for k in range(len(firsts)):
            rate = below[ends[k]] - below[firsts[k]]
            most = max(most, rate)
            gets[k] = max(gets[k], rate)
        sends[i] = most


@kernel
def best_pair(
    row: int,
    most: int,
    order: Any,
    key: Any,
    price: Any,
    demand: Any,
    limit: float,
    sends: Any,
    gets: Any,
    rate_ptr: Any,
    channels: Any,
    before: Any,
    want_ptr: Any,
    firsts: Any,
    ends: Any,
    top: int,
    doubt: float,
    pair: Any,
    ratio: Any,
) -> int:
    """The pair of users in `order` of the largest traffic / price that fits; the row to go on with.

    `pair` (-1: none yet) and its `ratio` (traffic, price) are the best so far, and are improved. No user
    `sends` or `gets` more than that, to or from one other; with reach = (sends + gets) / 2 a pair has no
    more traffic than both reach. key[k] is reach * best price - best traffic * price of user order[k] when
    the call was prepared (reach alone if there was no traffic yet), falling: so a pair whose keys sum up to
    less than 0 is worse, and so are those after it. Equal keys ascend by price, then user: of pairs that can
    at best be equal, the first that loses the tie ends the row. `doubt` is what rounding may change in such
    a sum. It comes back after about `most` pairs.
    """
    looked = 0
    while row < len(order) - 1 and looked < most:
        a = order[row]
        for k in range(row + 1, len(order)):
            looked += 1
            b = order[k]
            i, j = min(a, b), max(a, b)
            cost = price[i] + price[j]
            later = cost > ratio[1] or (cost == ratio[1] and (i > pair[0] or (i == pair[0] and j >= pair[1])))
            if pair[0] >= 0:
                if key[row] + key[k] < -doubt or (key[row] + key[k] == 0 and later):
                    break
                most_sent = min(sends[i], gets[j]) + min(sends[j], gets[i])
                left, right = most_sent * (ratio[1] if ratio[0] > 0 else 1.0), ratio[0] * cost
                if left < right - doubt or (left == right and later):
                    continue
            if demand[i] + demand[j] > limit:
                continue
            mine, yours = slice(want_ptr[i], want_ptr[i + 1]), slice(want_ptr[j], want_ptr[j + 1])
            traffic = _sent(rate_ptr, channels, before, i, firsts[yours], ends[yours], top)
            traffic += _sent(rate_ptr, channels, before, j, firsts[mine], ends[mine], top)
            better = beats(traffic, cost, ratio[0], ratio[1])
            equal = not better and not beats(ratio[0], ratio[1], traffic, cost)
            if pair[0] < 0 or better or (equal and not later):
                pair[0], pair[1] = i, j
                ratio[0], ratio[1] = traffic, cost
        if pair[0] >= 0 and key[row] + key[row + 1] < -doubt:
            return len(order)
        row += 1
    return row


@kernel
def _join(
    user: int,
    broker: int,
    rate_ptr: Any,
    channels: Any,
    rates: Any,
    want_ptr: Any,
    firsts: Any,
    ends: Any,
    wanted: Any,
    sent: Any,
) -> None:
    """Count `user` on `broker`: wanted[c, b] are b's subscribers of c, sent[c, b] its rate below c."""
    for k in range(want_ptr[user], want_ptr[user + 1]):
        for c in range(firsts[k], ends[k]):
            wanted[c, broker] += 1.0
    total = 0.0
    at = rate_ptr[user]
    for c in range(len(wanted)):
        if at < rate_ptr[user + 1] and channels[at] == c:
            total += rates[at]
            at += 1
        sent[c + 1, broker] += total


@kernel
def join_clusters(
    first: int,
    stop: int,
    access: Any,
    demand: Any,
    limit: Any,
    rate_ptr: Any,
    channels: Any,
    rates: Any,
    want_ptr: Any,
    firsts: Any,
    ends: Any,
    wanted: Any,
    sent: Any,
    traffic: Any,
    load: Any,
    assignment: Any,
) -> int:
    """Each of the users first..stop-1 to the broker with room of the largest traffic / price; unplaced users.

    Users that have a broker already are only counted there, if `traffic` is empty: the call before all
    others. Otherwise it is scratch, the traffic of the user at hand with the users of every broker.
    """
    unplaced = 0
    for user in range(first, stop):
        best = assignment[user]
        if (best >= 0) != (len(traffic) == 0):
            continue
        if best < 0:
            traffic[:] = 0.0
            for k in range(rate_ptr[user], rate_ptr[user + 1]):
                row = wanted[channels[k]]
                for b in range(len(load)):
                    traffic[b] += rates[k] * row[b]
            for k in range(want_ptr[user], want_ptr[user + 1]):
                above, below = sent[ends[k]], sent[firsts[k]]
                for b in range(len(load)):
                    traffic[b] += above[b] - below[b]
            for b in range(len(load)):
                if load[b] + demand[user] <= limit[b] and (
                    best < 0 or beats(traffic[b], access[user, b], traffic[best], access[user, best])
                ):
                    best = b
            if best < 0:
                best = roomiest(load, limit)
                unplaced += 1
            assignment[user] = best
        load[best] += demand[user]
        _join(user, best, rate_ptr, channels, rates, want_ptr, firsts, ends, wanted, sent)
    return unplaced
