"""Roll-outs of the fifty sites of `topicloom example chain`: how many brokers change, and how many must."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import Figure, Options, Row, attempt, checked, json_of, run_command, topicloom_command
from benchmarks.rollout_bound import fewest_changed
from topicloom.mesh.model.manifest import read_mesh

TITLE = "roll-outs"
DRAWS = 8
ASKED = {"one more subscription": 4, "10 of 566 swapped": 15}  # brokers, both phases added up, on average

Cells = Mapping[str, Figure | str]
Pairs = set[tuple[str, str]]


def run(options: Options) -> Iterator[Row]:
    for change, asked in ASKED.items():
        for kind in ("mosquitto", "nats"):
            for more in ((), ("--open",)) if not options.quick else (("--open",),):
                name = f"{kind}{' without logins' if more else ''}"
                yield attempt(f"{change}, {DRAWS} draws", name, partial(_cells, options, kind, more, asked))


def _cells(options: Options, kind: str, more: tuple[str, ...], asked: int) -> Cells:
    chain = options.scratch / "chain"
    if not chain.exists():
        _topicloom("example", "chain", "--out", str(chain))
        _topicloom("build", str(chain / "sites.csv"), "--out", str(chain / "overlay"))
    folder = chain / f"{kind}{len(more)}"
    if not folder.exists():
        hosts = ("--hosts", str(chain / "hosts.csv"))
        _topicloom("export", kind, str(chain / "overlay"), *hosts, *more, "--out", str(folder))
    with (chain / "sites.csv").open(newline="") as file:
        pairs: Pairs = {(node, topic) for node, topic in list(csv.reader(file))[1:]}
    draws = [
        _draw(options, folder, pairs, seed, one=asked == ASKED["one more subscription"])
        for seed in range(DRAWS)
    ]
    summed = [sum(map(len, found["brokers_touched"].values())) for found, _ in draws]
    cells: dict[str, Figure | str] = {
        "brokers touched, mean": Figure(sum(summed) / DRAWS, "", asked),
        "most": str(max(summed)),
        "different ones, mean": f"{sum(len(_different(found)) for found, _ in draws) / DRAWS:.1f}",
        "of them reloaded only": f"{sum(_reloaded(found) for found, _ in draws) / DRAWS:.1f}",
    }
    if kind == "nats" and more:
        old = read_mesh(folder)
        for label, backups in (("must change", True), ("must change without backups", False)):
            least = [fewest_changed(old, after, backups=backups) for _, after in draws]
            cells[label] = f"{sum(least) / DRAWS:.1f} ({min(least)} to {max(least)})"
    return cells


def _different(found: dict[str, Any]) -> set[str]:
    return {node for own in found["brokers_touched"].values() for node in own}


def _reloaded(found: dict[str, Any]) -> int:
    return sum(len(own) for own in found["brokers_reloaded"].values())


def _draw(
    options: Options, folder: Path, pairs: Pairs, seed: int, *, one: bool
) -> tuple[dict[str, Any], dict[str, set[str]]]:
    """Plan one change; return the summary, and who wants each topic after it."""
    draw = random.Random(seed)
    others = sorted({(node, topic) for node, _ in pairs for _, topic in pairs} - pairs)
    after = pairs | {draw.choice(others)}
    if not one:
        after = (pairs - set(draw.sample(sorted(pairs), 10))) | set(draw.sample(others, 10))
    table = options.scratch / "after.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("node", "topic"), *sorted(after)])
    arguments = ("mesh", "rollout", str(folder), str(table), "--out", str(options.scratch / "change"))
    wanted: dict[str, set[str]] = {}
    for node, topic in after:
        wanted.setdefault(topic, set()).add(node)
    return json_of(checked(run_command(topicloom_command(*arguments, "--json")))), wanted


def _topicloom(*arguments: str) -> None:
    checked(run_command(topicloom_command(*arguments, "--quiet")))
