"""Users grouped by the traffic between them [Zhao2011, Algorithm 2].

The traffic of users i and j counts both directions: b_ij = sum over c of g[i,c] s[j,c] + g[j,c] s[i,c], where
g are rates and s is 1 where a channel is wanted. Wanted channels come in ranges, so with running sums of each
user's rates b_ij takes a few look-ups; it is never tabulated. `fixed` are ProblemArrays; `before` are the
running sums of every user's rates: those of user i begin at rate_ptr[i] + i with a 0.

Ratios of traffic to price are compared by cross-multiplication: with traffic, a price of 0 is better than any
other; no traffic is 0 whatever the price.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import kernel, part
from topicloom.content.kernels.placement import roomiest


@part
def beats(traffic: float, price: float, best_traffic: float, best_price: float) -> bool:
    """Tell whether traffic / price is the larger ratio, or the same at a lower price."""
    left, right = traffic * best_price, best_traffic * price
    if left != right:
        return left > right
    if (traffic > 0) != (best_traffic > 0):
        return traffic > 0
    return price < best_price


@part
def _sent(fixed: Any, before: Any, i: int, j: int) -> Any:
    """Return the rate of user i on the channels that user j wants.

    The channels of i ascend, so at least c - (n_channels - n) and at most c of all n are below c: the search
    for the place of c begins between the two, and ends at once for a user that publishes everywhere.
    """
    channels, start = fixed.rate_channels, fixed.rate_ptr[i]
    n = fixed.rate_ptr[i + 1] - start
    total = 0.0
    for k in range(2 * fixed.want_ptr[j], 2 * fixed.want_ptr[j + 1]):
        c = fixed.want_last[k >> 1] + 1 if k & 1 else fixed.want_first[k >> 1]
        low, high = max(c - (len(fixed.channel_rate) - n), 0), min(c, n)
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
    first: int, stop: int, fixed: Any, before: Any, firsts: Any, ends: Any, below: Any, sends: Any, gets: Any
) -> None:
    """Find the most that the users first..stop-1 send on one of the windows firsts[k]..ends[k]-1.

    `sends` is the most of each user, `gets` the most on each window; `below` is scratch, a user's rate below
    each channel.
    """
    for i in range(first, stop):
        at = fixed.rate_ptr[i]
        for c in range(len(below)):
            while at < fixed.rate_ptr[i + 1] and fixed.rate_channels[at] < c:
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
    row: int, most: int, listed: Any, limit: float, fixed: Any, known: Any, doubt: float, best: Any
) -> int:
    """Find the pair of users in `order` with the largest traffic / price that fits; return the next row.

    `listed` is (order, key, price). `best` is (pair, ratio): the best pair so far (-1: none yet) and its
    traffic and price. `known` is (before, sends, gets): no user sends more than `sends` to, or gets more than
    `gets` from, one other. With reach = (sends + gets) / 2 a pair has no more traffic than the sum of both
    reaches. key[k] is reach * best price - best traffic * price of user order[k] when the call was prepared
    (reach alone if there was no traffic yet), falling: so a pair whose keys sum to less than 0 is worse, and
    so are those after it. Equal keys ascend by price, then user: of pairs that can at best be equal, the
    first that loses the tie ends the row. `doubt` is what rounding may change in such a sum. The call ends
    after about `most` pairs.
    """
    (order, key, price), (pair, ratio), (before, sends, gets) = listed, best, known
    demand = fixed.demand
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
            traffic = _sent(fixed, before, i, j) + _sent(fixed, before, j, i)
            better = beats(traffic, cost, ratio[0], ratio[1])
            equal = not better and not beats(ratio[0], ratio[1], traffic, cost)
            if pair[0] < 0 or better or (equal and not later):
                pair[0], pair[1] = i, j
                ratio[0], ratio[1] = traffic, cost
        if pair[0] >= 0 and key[row] + key[row + 1] < -doubt:
            return len(order)
        row += 1
    return row


@part
def _join(user: int, broker: int, fixed: Any, wanted: Any, sent: Any) -> None:
    """Count `user` on `broker`: wanted[c, b] are b's subscribers of c, sent[c, b] its rate below c."""
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            wanted[c, broker] += 1.0
    total = 0.0
    at, end = fixed.rate_ptr[user], fixed.rate_ptr[user + 1]
    for c in range(len(wanted)):
        if at < end and fixed.rate_channels[at] == c:
            total += fixed.rates[at]
            at += 1
        sent[c + 1, broker] += total


@kernel
def join_clusters(
    first: int, stop: int, fixed: Any, wanted: Any, sent: Any, traffic: Any, load: Any, assignment: Any
) -> int:
    """Add the users first..stop-1 to the broker with room and the largest traffic / price.

    Returns how many found no room. If `traffic` is empty, users that have a broker already are counted there
    and no other is placed: the first call. Otherwise it is scratch, a user's traffic with every broker.
    """
    demand, limit, access = fixed.demand, fixed.capacity, fixed.access
    unplaced = 0
    for user in range(first, stop):
        best = assignment[user]
        if (best >= 0) != (len(traffic) == 0):
            continue
        if best < 0:
            traffic[:] = 0.0
            for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
                row = wanted[fixed.rate_channels[k]]
                for b in range(len(load)):
                    traffic[b] += fixed.rates[k] * row[b]
            for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
                above, below = sent[fixed.want_last[k] + 1], sent[fixed.want_first[k]]
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
        _join(user, best, fixed, wanted, sent)
    return unplaced
