"""Meshes of real brokers on this machine: how soon they are ready, what a delivery costs, how failover goes.

Each case is a workload, the default build, its export and `topicloom run`, which exits 1 unless every
delivery came exactly once. The killed brokers are those that most links with a backup dial.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import (
    Figure,
    NotRun,
    Options,
    Row,
    attempt,
    checked,
    json_of,
    run_command,
    topicloom_command,
)

TITLE = "meshes of real brokers"
PROGRAMS = {"mosquitto": "mosquitto", "nats": "nats-server"}  # zenoh comes with its library
KILLS = (("mosquitto", 1), ("mosquitto", 3), ("nats", 1))  # kind, links of an edge in each direction
SIZES = (30, 50)
TOPICS, SUBSCRIPTIONS, MESSAGES, KILLED = 20, 8, 50, 2

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    table = f"{TOPICS} topics, {SUBSCRIPTIONS} subscriptions per node, {MESSAGES} messages on every topic"
    sizes = SIZES[: 1 if options.quick else None]
    for kind in (*PROGRAMS, "zenoh"):
        for nodes in sizes:
            yield attempt(table, f"{kind}, {nodes} brokers", partial(_run_cells, options, kind, nodes))
    yield from _comparison(options, sizes[-1])
    table = "a broker is killed: seconds until its topics flow over backups, and until all is exact again"
    for kind, split in KILLS:
        for nodes in sizes:
            name = f"{kind}, {nodes} brokers" + (f", --split {split}" if split > 1 else "")
            yield attempt(table, name, partial(_kill_cells, options, kind, nodes, split))


def _comparison(options: Options, nodes: int) -> Iterator[Row]:
    """All four meshes in one run, so that the same load of the machine bears on them."""
    table = f"the same interest on four meshes of mosquitto, {nodes} nodes (`topicloom run --compare`)"
    rows: list[dict[str, Any]] = []

    def cells(place: int) -> Cells:
        if not rows:
            rows.extend(_run(_mesh(options, "mosquitto", nodes), "mosquitto", "--compare")["rows"])
        row = rows[place]
        scale = 1e6 / row["delivered"]
        return {
            "links": Figure(row["links"], ""),
            "connections of a broker": Figure(row["connections_per_node_max"], "at most"),
            "hops": Figure(row["hops_max"], "at most"),
            "messages per delivery": Figure(row["messages_per_delivery"], ""),
            "strays": Figure(row["strays"], ""),
            "CPU per 1,000": Figure(row["cpu_seconds_deliver"] * scale, "ms"),
            "of it the busiest": Figure(row["cpu_seconds_deliver_max"] * scale, "ms"),
            "ready": Figure(row["seconds_ready"], "s"),
            "delivered once": Figure(row["delivered"], f"of {row['expected']:,}"),
        }

    for place, name in enumerate(("ours", "ring per topic", "star", "full mesh")):
        yield attempt(table, name, partial(cells, place))


def _run_cells(options: Options, kind: str, nodes: int) -> Cells:
    summary = _run(_mesh(options, kind, nodes), kind, "--messages", str(MESSAGES))
    delivered = summary["delivered"]
    return {
        "links": Figure(summary["links"], ""),
        "connections of a broker": Figure(summary["connections_per_node_max"], "at most"),
        "hops": Figure(summary["hops_max"], "at most"),
        "ready": Figure(summary["seconds_ready"], "s"),
        "delivered once": Figure(delivered, f"of {summary['expected']:,}"),
        "deliveries": Figure(delivered / summary["seconds_deliver"], "per s"),
        "CPU of brokers per 1,000": Figure(1e6 * summary["cpu_seconds_deliver"] / delivered, "ms"),
        "memory of brokers": Figure(summary["memory_bytes"] / nodes / 1e6, "MB each"),
    }


def _kill_cells(options: Options, kind: str, nodes: int, split: int) -> Cells:
    folder = _mesh(options, kind, nodes, split)
    links = json.loads((folder / "manifest.json").read_text())["links"]
    dialed = Counter(link["acceptor"] for link in links if link["backups"])
    if not dialed:
        raise NotRun("no link of this mesh has a safe backup")
    kills = [f"--kill={node}" for node, _ in dialed.most_common(KILLED)]
    failovers = _run(folder, kind, "--messages", "1", *kills)["failover"]
    slowest = [one["seconds_max"] for one in failovers if one["seconds_max"] is not None]
    return {
        "killed, one after the other": Figure(len(failovers), ""),
        "topics interrupted": Figure(sum(one["interrupted"] for one in failovers), ""),
        "whole again": Figure(sum(one["recovered"] for one in failovers), ""),
        "split, no safe backup": Figure(sum(one["apart"] for one in failovers), ""),
        "slowest topic": Figure(max(slowest), "s") if slowest else "none waited",
        "duplicates meanwhile": Figure(sum(one["duplicates"] for one in failovers), ""),
        "exact again after": Figure(max(one["seconds_back"] for one in failovers), "s"),
    }


def _run(folder: Path, kind: str, *options: str) -> dict[str, Any]:
    return json_of(checked(run_command(topicloom_command("run", kind, str(folder), "--json", *options))))


def _mesh(options: Options, kind: str, nodes: int, split: int = 1) -> Path:
    program = PROGRAMS.get(kind, "python3")
    if shutil.which(program) is None and shutil.which(program, path="/usr/sbin:/usr/local/sbin") is None:
        raise NotRun(f"{program} is not installed")
    table, build = options.scratch / f"brokers-{nodes}.csv", options.scratch / f"brokers-{nodes}"
    folder = options.scratch / f"brokers-{nodes}-{kind}-{split}"
    words = ["--nodes", str(nodes), "--topics", str(TOPICS), "--subscriptions", str(SUBSCRIPTIONS)]
    words += ["--popularity", "zipf:0.5", "--seed", "1", "--quiet"]
    if not build.exists():
        checked(run_command(topicloom_command("generate", str(table), *words)))
        checked(run_command(topicloom_command("build", str(table), "--out", str(build), "--quiet")))
    if not folder.exists():
        command = ["export", kind, str(build), "--out", str(folder), "--quiet"]
        if split > 1:
            command += ["--split", str(split)]
        checked(run_command(topicloom_command(*command)))
    return folder
