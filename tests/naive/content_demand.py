"""Demand and channel rates of a content problem by the definition, one user and one channel at a time."""

from __future__ import annotations

from typing import Any


def naive_traffic(
    n_users: int, n_channels: int, rates: tuple[Any, Any, Any], wants: tuple[Any, Any, Any]
) -> tuple[list[list[float]], list[list[bool]], list[float]]:
    """g[i][c] without what nobody else wants, s[i][c], and d_i = out_i + in_i [Zhao2011, IV].

    out_i = sum_c g[i,c]; in_i = the sum over wanted channels of what everybody else publishes there.
    """
    wanted = [[False] * n_channels for _ in range(n_users)]
    for user, first, last in zip(*wants, strict=True):
        for channel in range(first, last + 1):
            wanted[user][channel] = True
    published = [[0.0] * n_channels for _ in range(n_users)]
    for user, channel, rate in zip(*rates, strict=True):
        published[user][channel] += rate
    for user in range(n_users):
        for channel in range(n_channels):
            if not any(wanted[other][channel] for other in range(n_users) if other != user):
                published[user][channel] = 0.0
    demand = []
    for user in range(n_users):
        sent = sum(published[user])
        received = sum(
            published[other][channel]
            for other in range(n_users)
            for channel in range(n_channels)
            if other != user and wanted[user][channel]
        )
        demand.append(sent + received)
    return published, wanted, demand
