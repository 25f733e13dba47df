"""Roll-outs of the examples chain (50 sites) and px4 (230 nodes): brokers that change, and that must."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import Figure, Options, Row, attempt, checked, json_of, run_command, topicloom_command
from benchmarks.rollout_bound import fewest_changed, fewest_restarted
from topicloom.mesh.model.manifest import read_mesh

TITLE = "roll-outs"
DRAWS = 8
ASKED = {"one more subscription": 4, "10 subscriptions swapped": 15}  # brokers, both phases, on average
EXAMPLES = ("chain", "px4")  # chain has 566 subscriptions

Cells = Mapping[str, Figure | str]
Pairs = set[tuple[str, str]]


def run(options: Options) -> Iterator[Row]:
    for example in EXAMPLES[: 1 if options.quick else None]:
        for change, asked in ASKED.items():
            for kind in ("mosquitto", "nats", "zenoh"):
                for more in ((), ("--open",)) if not options.quick else (("--open",),):
                    name = f"{kind}{' without logins' if more else ''}"
                    cells = partial(_cells, options, example, kind, more, asked)
                    yield attempt(f"{example}: {change}, {DRAWS} draws", name, cells)


def _cells(options: Options, example: str, kind: str, more: tuple[str, ...], asked: int) -> Cells:
    work = options.scratch / f"rollouts-{example}"
    if not work.exists():
        _prepare(example, work)
    folder = work / f"{kind}{len(more)}"
    if not folder.exists():
        hosts = ("--hosts", str(work / "hosts.csv"))
        _topicloom("export", kind, str(work / "overlay"), *hosts, *more, "--out", str(folder))
    with (work / "sites.csv").open(newline="") as file:
        pairs: Pairs = {(row[0], row[1]) for row in list(csv.reader(file))[1:]}
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
    bound = fewest_restarted if kind == "mosquitto" else fewest_changed
    if kind != "zenoh":
        old = read_mesh(folder)
        programs = {
            "must change": {"logins": not more},
            "must change without backups": {"backups": False, "logins": not more},
        }
        if kind == "mosquitto" and not more:
            programs["must restart"] = {}
        for label, asked_for in programs.items():
            least = [bound(old, after, **asked_for) for _, after in draws]
            cells[label] = f"{sum(least) / DRAWS:.1f} ({min(least)} to {max(least)})"
    return cells


def _prepare(example: str, work: Path) -> None:
    """Write the table, a host for each node, and the overlay."""
    if example == "chain":
        _topicloom("example", example, "--out", str(work))
    else:
        work.mkdir()
        _topicloom("example", example, "--out", str(work / "table.tsv"))
        with (work / "table.tsv").open(newline="") as source:
            rows = [row[:2] for row in csv.reader(source, delimiter="\t")]
        nodes = sorted({node for node, _ in rows[1:]})
        hosts = [("node", "host"), *((node, f"h{at}.example.net") for at, node in enumerate(nodes))]
        for name, content in (("sites.csv", rows), ("hosts.csv", hosts)):
            with (work / name).open("w", newline="") as file:
                csv.writer(file).writerows(content)
    _topicloom("build", str(work / "sites.csv"), "--out", str(work / "overlay"))


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
