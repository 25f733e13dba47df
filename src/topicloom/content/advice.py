"""What the core share and the density of a plan mean for the choice of an algorithm, in words."""

from __future__ import annotations

LITTLE, MUCH = 0.05, 0.3
"""Shares of the core in the cost below which it hardly matters, and above which it decides."""
EVERYWHERE = 0.9
"""With so many (broker, channel) pairs in use, hardly any user's place changes a tree."""


def advice(core_share: float, broker_density: float) -> str:
    """One sentence.

    >>> advice(0.01, 1.0).split(":")[0]
    'links between brokers hardly matter'
    """
    if core_share < LITTLE:
        return (
            "links between brokers hardly matter: greedy-packing is nearly as good as any, local-search gets "
            "the last percent where brokers are full"
        )
    if broker_density > EVERYWHERE:
        return (
            "nearly every broker has subscribers of every channel, so only plans with fewer brokers save on "
            "the links between them: local-search tries to close brokers, the others do not"
        )
    if core_share < MUCH:
        return "links between brokers matter: local-search, which counts them exactly, is worth its time"
    return (
        "links between brokers decide: use local-search (and --time-limit for more of it); greedy-packing "
        "does not look at them"
    )
