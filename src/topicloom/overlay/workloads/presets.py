"""Workloads by name: the papers' laws with their numbers, and the small real tables that are bundled.

A preset only fills in what the user left out; an option given explicitly wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import topicloom
from topicloom.overlay.workloads.laws import Popularity, Sizes


@dataclass(frozen=True, slots=True)
class Preset:
    """A named workload and where it comes from."""

    popularity: Popularity
    topics: int
    sizes: Sizes
    source: str


_CHEN = Sizes(10, 90)

PRESETS: dict[str, Preset] = {
    "rss": Preset(
        Popularity("zipf", 0.5), 100, Sizes(10, 10), "[Chockler2007a, 8] and [Chockler2007b, 3.1]: RSS feeds"
    ),
    "nyse": Preset(
        Popularity("exponential", 0.55),
        100,
        Sizes(10, 10),
        "[Chockler2007a, 8] and [Chockler2007b, 3.1]: stocks, the top tenth has 55% of the interest",
    ),
    "chen-uniform": Preset(Popularity("uniform"), 200, _CHEN, "[Chen2010, VI]"),
    # The text of [Chen2010] says alpha = 2.0 and so does this preset. The printed degrees of its Zipf table
    # (GM-M 11.14 / 6.487) fit alpha = 2.5; 2.0 gives 10.45 / 6.93. Use `--popularity zipf:2.5 --topics 200
    # --subscriptions 10:90` to meet the printed numbers.
    "chen-zipf": Preset(
        Popularity("zipf", 2.0),
        200,
        _CHEN,
        "[Chen2010, VI], alpha 2.0 as its text says; its printed degrees fit zipf:2.5",
    ),
    # What [Chen2010] calls exponential is e^(-0.1 i), not the law of Chockler et al.
    "chen-exp": Preset(Popularity("geometric", 0.1), 200, _CHEN, "[Chen2010, VI], e^(-0.1 i)"),
}

# See data/NOTICE.md.
BUNDLED = {"px4": "px4-uorb-pubsub.tsv.gz", "autoware": "ros2-autoware-pubsub.tsv.gz"}


def sample_path(name: str) -> Path:
    """Return where the bundled table `name` lies: TSV without a header, node and topic."""
    return Path(topicloom.__file__).parent / "data" / BUNDLED[name]
