"""Write tables for content-based planning: 300 traders, 6 brokers, an hour of quotes.

Run:  python examples/content_log.py DIR
      topicloom content traffic --log DIR/log.csv --subscriptions DIR/subscriptions.csv \
          --brokers DIR/brokers.csv --coordinates DIR/coordinates.csv --out DIR/problem
      topicloom content plan DIR/problem --out DIR/plan

Every trader publishes quotes around a price of its own and wants all quotes within a range.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

TRADERS, BROKERS, QUOTES = 300, 6, 20_000


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(7)
    names = [f"trader{number:03d}" for number in range(TRADERS)]
    middles = random.uniform(10, 90, TRADERS)

    publishers = random.integers(0, TRADERS, QUOTES)
    prices = random.normal(middles[publishers], 4)
    times = np.sort(random.uniform(0, 3600, QUOTES))
    log = [
        (names[who], f"{when:.3f}", f"{price:.2f}")
        for who, when, price in zip(publishers, times, prices, strict=True)
    ]
    write(folder / "log.csv", ("publisher", "time", "price"), log)

    widths = random.uniform(1, 10, TRADERS)
    wanted = [
        (name, "watch", "price", f"{middle - width:.2f}", f"{middle + width:.2f}")
        for name, middle, width in zip(names, random.permutation(middles), widths, strict=True)
    ]
    write(folder / "subscriptions.csv", ("user", "subscription", "attribute", "low", "high"), wanted)

    brokers = [f"broker{number}" for number in range(BROKERS)]
    write(folder / "brokers.csv", ("broker", "capacity"), [(name, 100) for name in brokers])
    kinds = ["user"] * TRADERS + ["broker"] * BROKERS
    points = random.uniform(0, 100, (TRADERS + BROKERS, 2)).round(1).tolist()
    places = [(kind, name, *at) for kind, name, at in zip(kinds, names + brokers, points, strict=True)]
    write(folder / "coordinates.csv", ("kind", "id", "x", "y"), places)
    print(f"{QUOTES:,} quotes of {TRADERS} traders written to {folder}")


def write(path: Path, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "quotes"))
