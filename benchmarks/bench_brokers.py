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
PROGRAMS = {"mosquitto": "mosquitto", "nats": "nats-server"}
SIZES = (30, 50)
TOPICS, SUBSCRIPTIONS, MESSAGES, KILLED = 20, 8, 50, 2

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    table = f"{TOPICS} topics, {SUBSCRIPTIONS} subscriptions per node, {MESSAGES} messages on every topic"
    for kind in PROGRAMS:
        for nodes in SIZES[: 1 if options.quick else None]:
            yield attempt(table, f"{kind}, {nodes} brokers", partial(_run_cells, options, kind, nodes))
    table = "a broker is killed: seconds until its topics flow over backups, and until all is exact again"
    for kind in PROGRAMS:
        for nodes in SIZES[: 1 if options.quick else None]:
            yield attempt(table, f"{kind}, {nodes} brokers", partial(_kill_cells, options, kind, nodes))


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


def _kill_cells(options: Options, kind: str, nodes: int) -> Cells:
    folder = _mesh(options, kind, nodes)
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
        "in parts, no safe backup": Figure(sum(one["apart"] for one in failovers), ""),
        "slowest topic": Figure(max(slowest), "s") if slowest else "none waited",
        "duplicates meanwhile": Figure(sum(one["duplicates"] for one in failovers), ""),
        "exact again after": Figure(max(one["seconds_back"] for one in failovers), "s"),
    }


def _run(folder: Path, kind: str, *options: str) -> dict[str, Any]:
    return json_of(checked(run_command(topicloom_command("run", kind, str(folder), "--json", *options))))


def _mesh(options: Options, kind: str, nodes: int) -> Path:
    if shutil.which(PROGRAMS[kind], path="/usr/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin") is None:
        raise NotRun(f"{PROGRAMS[kind]} is not installed")
    table, build = options.scratch / f"brokers-{nodes}.csv", options.scratch / f"brokers-{nodes}"
    folder = options.scratch / f"brokers-{nodes}-{kind}"
    words = ["--nodes", str(nodes), "--topics", str(TOPICS), "--subscriptions", str(SUBSCRIPTIONS)]
    words += ["--popularity", "zipf:0.5", "--seed", "1", "--quiet"]
    if not build.exists():
        checked(run_command(topicloom_command("generate", str(table), *words)))
        checked(run_command(topicloom_command("build", str(table), "--out", str(build), "--quiet")))
    if not folder.exists():
        command = ["export", kind, str(build), "--out", str(folder), "--backups", "1", "--quiet"]
        checked(run_command(topicloom_command(*command)))
    return folder
