"""Tables for a broker mesh: fifty sites of a chain of shops, what each wants, where it is, who publishes."""

from __future__ import annotations

import random
from collections.abc import Mapping

REGIONS = ("north", "east", "south", "west", "islands")
LINES = (
    "bakery", "books", "dairy", "drinks", "fish", "flowers", "frozen", "fruit",
    "garden", "grain", "hardware", "meat", "paper", "pharmacy", "spices", "toys",
)  # fmt: skip
SITES = 50

Rows = list[tuple[str, ...]]


def chain_tables() -> Mapping[str, Rows]:
    """Return the rows of each table by the name of its file; the first row is the header."""
    draw = random.Random(SITES)
    pairs = [(f"site-{site:02}", topic) for site in range(SITES) for topic in _wanted(site, draw)]
    hosts: Rows = [(f"site-{site:02}", f"mqtt-{site:02}.example.net") for site in range(SITES)]
    return {
        "sites.csv": [("node", "topic"), *pairs],
        "roles.csv": [("node", "topic", "role"), *_with_roles(pairs)],
        "hosts.csv": [("node", "host"), *hosts],
    }


def _wanted(site: int, draw: random.Random) -> list[str]:
    """Return what one site wants: news for all, its region, and stock and recalls of the lines it sells."""
    region = REGIONS[site % len(REGIONS)]
    topics = ["chain/news", f"region/{region}/orders", f"region/{region}/weather"]
    for line in draw.sample(LINES, draw.randint(2, 6)):
        topics += [f"line/{line}/stock", f"line/{line}/recalls"]
    return topics


def _with_roles(pairs: list[tuple[str, str]]) -> Rows:
    """Let one site publish the news, and one of each region its weather; all else everybody publishes."""
    first = {topic: site for site, topic in reversed(pairs)}
    found: Rows = []
    for site, topic in pairs:
        role = "both"
        if topic == "chain/news":
            role = "both" if site == first[topic] else "sub"
        elif topic.endswith("/weather"):
            role = "pub" if site == first[topic] else "sub"
        found.append((site, topic, role))
    return found
