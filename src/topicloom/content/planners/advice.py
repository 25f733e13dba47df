"""What the core share and the density of a plan mean for the choice of an algorithm, in words."""

from __future__ import annotations

LITTLE, MUCH = 0.05, 0.3
"""Shares of the core in the cost below which it hardly matters, and above which it decides."""
EVERYWHERE = 0.9
"""With so many (broker, channel) pairs in use, hardly any user's place changes a tree."""


def advice(core_share: float, broker_density: float, random_core_share: float) -> str:
    """One sentence. `random_core_share` is the core share of random plans: a good plan's own may be small
    because it avoids dear links between brokers, for one by gathering all users on one broker.

    >>> advice(0.01, 1.0, 0.01).split(":")[0]
    'links between brokers hardly matter'
    >>> advice(0.0, 0.1, 0.4).split(":")[0]
    'this plan keeps off the links between brokers, which are 40% of what random plans cost'
    """
    if core_share < LITTLE <= random_core_share:
        return (
            f"this plan keeps off the links between brokers, which are {random_core_share:.0%} of what "
            "random plans cost: local-search weighs them against the users' links, greedy-packing does not "
            "look at them"
        )
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
        "links between brokers decide: use local-search (and `time_limit` for more of it); greedy-packing "
        "does not look at them"
    )
