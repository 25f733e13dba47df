"""Write tables for a broker mesh: fifty sites of a chain of shops, what each wants, where it runs.

    python examples/sites.py chain

writes chain/sites.csv (node, topic), chain/hosts.csv (node, host) and chain/roles.csv, which also says who
publishes; docs/meshes.md continues from there.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Sequence
from pathlib import Path

REGIONS = ("north", "east", "south", "west", "islands")
LINES = (
    "bakery", "books", "dairy", "drinks", "fish", "flowers", "frozen", "fruit",
    "garden", "grain", "hardware", "meat", "paper", "pharmacy", "spices", "toys",
)  # fmt: skip
SITES = 50


def wanted(site: int, draw: random.Random) -> list[str]:
    """Return what one site wants: news for all, its region, and stock and recalls of the lines it sells."""
    region = REGIONS[site % len(REGIONS)]
    topics = ["chain/news", f"region/{region}/orders", f"region/{region}/weather"]
    for line in draw.sample(LINES, draw.randint(2, 6)):
        topics += [f"line/{line}/stock", f"line/{line}/recalls"]
    return topics


def main(folder: Path) -> None:
    """Write all tables."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(50)
    rows = [(f"site-{site:02}", topic) for site in range(SITES) for topic in wanted(site, draw)]
    write(folder / "sites.csv", ("node", "topic"), rows)
    write(folder / "roles.csv", ("node", "topic", "role"), with_roles(rows))
    hosts = [(f"site-{site:02}", f"mqtt-{site:02}.example.net") for site in range(SITES)]
    write(folder / "hosts.csv", ("node", "host"), hosts)
    topics = {topic for _, topic in rows}
    print(f"{len(rows):,} subscriptions of {SITES} sites to {len(topics)} topics written to {folder}")


def with_roles(rows: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Let one site publish the news, and one of each region its weather; all else everybody publishes."""
    first = {topic: site for site, topic in reversed(rows)}
    found = []
    for site, topic in rows:
        role = "both"
        if topic == "chain/news":
            role = "both" if site == first[topic] else "sub"
        elif topic.endswith("/weather"):
            role = "pub" if site == first[topic] else "sub"
        found.append((site, topic, role))
    return found


def write(path: Path, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Write one table with its header row."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "chain"))
