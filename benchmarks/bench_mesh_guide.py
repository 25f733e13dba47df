"""What docs/meshes.md says of meshes today, beside what it says of before: one kind and one table at a time.

Figures of files take seconds. Those of real brokers start as many as the table has nodes: 50, or 230 of PX4.

    python -m benchmarks.bench_mesh_guide chain nats            all figures
    python -m benchmarks.bench_mesh_guide px4 zenoh --files     those of files only, or of --brokers
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import sys
import tempfile
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

TITLE = "the guide of meshes"
TABLES = ("chain", "px4")
KINDS = ("mosquitto", "nats", "zenoh")
MIXES = 18  # states on the way, drawn at random
DRAWS = 8  # subscriptions that are added, one at a time
SWAPPED = 10
FREEZE, TIMEOUT = 12.0, "300"

Cells = Mapping[str, Figure | str]
Pairs = set[tuple[str, str]]


def run(options: Options) -> Iterator[Row]:
    for table in TABLES:
        for kind in KINDS:
            yield attempt(f"files, {table}", kind, partial(file_cells, options.scratch, table, kind))
    for table in TABLES[: 1 if options.quick else None]:
        for kind in KINDS:
            yield attempt(f"real brokers, {table}", kind, partial(broker_cells, options.scratch, table, kind))


def file_cells(scratch: Path, table: str, kind: str) -> Cells:
    """Roll-outs and secrets: nothing is started."""
    mesh, pairs = _mesh(scratch, table, kind), _pairs(scratch, table)
    summed, moved = [], 0
    for seed in range(DRAWS):
        found = _change(scratch, mesh, _one_more(pairs, seed))
        summed.append(sum(map(len, found["brokers_touched"].values())))
        moved = max(moved, len(found["topics_moved"]))
    change = _change(scratch, mesh, _swapped(pairs))
    loops = str(change["loops"]) if kind == "zenoh" else str(_mixed_loops(scratch, mesh, kind))
    states = change["states_checked"] if kind == "zenoh" else MIXES
    return {
        "states with a loop": Figure(float(loops), f"of {states}", 0),
        "touched by one more": Figure(sum(summed) / DRAWS, f"at most {max(summed)}", 4),
        "topics moved by it": Figure(moved, "at most"),
        "passwords of others in a file": Figure(_strange_passwords(mesh), "at most", 0),
    }


def broker_cells(scratch: Path, table: str, kind: str) -> Cells:
    """Brokers frozen and links cut, with all of them running."""
    mesh = _mesh(scratch, table, kind)
    node = json.loads((mesh / "manifest.json").read_text())["links"][0]["acceptor"]
    frozen = _run(mesh, kind, "--freeze", node)["frozen"][0]
    cut = _run(mesh, kind, "--cut", "all")["broken"][0]
    seconds = frozen["seconds_max"]
    cells: dict[str, Figure | str] = {
        "a frozen peer noticed": f"not by all {frozen['neighbors']} neighbors"
        if seconds is None
        else Figure(seconds, "s", FREEZE),
        "lost while all links are cut": Figure(cut["lost"], f"of {cut['lost'] + cut['delivered']:,}"),
        "came twice": Figure(cut["doubled"], ""),
        "retained wrong": "keeps none"
        if cut["retained"] is None
        else Figure(cut["retained_wrong"], f"of {cut['retained']:,}", 0),
    }
    if kind == "mosquitto":
        kept = _run(_mesh(scratch, table, kind, "--durable"), kind, "--cut", "all")["broken"][0]
        cells["lost with --durable"] = Figure(kept["lost"], f"of {kept['lost'] + kept['delivered']:,}", 0)
    return cells


# --- meshes and changes -----------------------------------------------------------------------------


def _mesh(scratch: Path, table: str, kind: str, *more: str) -> Path:
    """Return an export of the table for other machines, so with logins."""
    source, hosts, build = _table(scratch, table), scratch / f"{table}-hosts.csv", scratch / f"{table}-build"
    if not build.exists():
        nodes = sorted({node for node, _ in _pairs(scratch, table)})
        with hosts.open("w", newline="") as file:
            rows = ((node, f"h{at}.example.net") for at, node in enumerate(nodes))
            csv.writer(file).writerows([("node", "host"), *rows])
        _topicloom("build", str(source), "--engine", "local", "--out", str(build))
    mesh = scratch / "-".join([table, kind, *(word.strip("-") for word in more)])
    if not mesh.exists():
        _topicloom("export", kind, str(build), "--hosts", str(hosts), *more, "--out", str(mesh))
    return mesh


def _table(scratch: Path, table: str) -> Path:
    """Return the table as CSV: with roles where the example has them."""
    if table == "chain":
        if not (scratch / table).exists():
            _topicloom("example", table, "--out", str(scratch / table))
        return scratch / table / "roles.csv"
    plain, made = scratch / f"{table}.tsv", scratch / f"{table}.csv"
    if not made.exists():
        _topicloom("example", table, "--out", str(plain))
        with plain.open(newline="") as source, made.open("w", newline="") as file:
            csv.writer(file).writerows(csv.reader(source, delimiter="\t"))
    return made


def _rows(scratch: Path, table: str) -> list[dict[str, str]]:
    with _table(scratch, table).open(newline="") as file:
        return list(csv.DictReader(file))


def _pairs(scratch: Path, table: str) -> Pairs:
    return {(row["node"], row["topic"]) for row in _rows(scratch, table)}


def _others(pairs: Pairs) -> list[tuple[str, str]]:
    return sorted({(node, topic) for node, _ in pairs for _, topic in pairs} - pairs)


def _one_more(pairs: Pairs, seed: int) -> tuple[Pairs, Pairs]:
    return set(), {random.Random(seed).choice(_others(pairs))}


def _swapped(pairs: Pairs) -> tuple[Pairs, Pairs]:
    draw = random.Random(0)
    return set(draw.sample(sorted(pairs), SWAPPED)), set(draw.sample(_others(pairs), SWAPPED))


def _change(scratch: Path, mesh: Path, change: tuple[Pairs, Pairs]) -> dict[str, Any]:
    """Plan the roll-out to a table without some rows and with others."""
    table, (gone, come) = mesh.name.split("-")[0], change
    rows = [row for row in _rows(scratch, table) if (row["node"], row["topic"]) not in gone]
    columns = list(rows[0])
    rows += [{"node": node, "topic": topic, "role": "both"} for node, topic in sorted(come)]
    after = scratch / "after.csv"
    with after.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    out = str(scratch / f"{mesh.name}-change")
    words = ("mesh", "rollout", str(mesh), str(after), "--engine", "local", "--out", out, "--json")
    return json_of(checked(run_command(topicloom_command(*words))))


def _mixed_loops(scratch: Path, mesh: Path, kind: str) -> int:
    """Count the states on the way in which `verify` finds a loop: each broker has its file of one phase."""
    draw, change, found = random.Random(0), scratch / f"{mesh.name}-change", 0
    for turn in range(MIXES):
        before, after = [(mesh, change / "phase1"), (change / "phase1", change / "phase2")][turn % 2]
        state = scratch / "state"
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir()
        for path in sorted(before.glob("*.conf")):
            beside = after / path.name
            shutil.copy(beside if beside.exists() and draw.random() < 0.5 else path, state)
        done = run_command(topicloom_command("verify", f"--{kind}", str(state), "--json"))
        found += bool(json.loads(done.stdout)["loops"])
    return found


def _strange_passwords(mesh: Path) -> int:
    """Return how many passwords of other sites' clients one file has at most."""
    clients = json.loads((mesh / "secrets.json").read_text())["clients"]
    manifest = json.loads((mesh / "manifest.json").read_text())
    owner = {name: node["name"] for node in manifest["nodes"] for name in node["configs"]}
    most = 0
    for path in mesh.iterdir():
        if path.name not in ("manifest.json", "secrets.json"):
            text, stem = path.read_text(), path.name.partition(".")[0].partition("~")[0]
            own = next((node for name, node in owner.items() if name.startswith(stem)), None)
            most = max(
                most,
                sum(login["password"] in text for node, login in clients.items() if node != own),
            )
    return most


def _run(mesh: Path, kind: str, *words: str) -> dict[str, Any]:
    settings = ("--messages", "1", "--timeout", TIMEOUT, "--json")
    done = run_command(topicloom_command("run", kind, str(mesh), *settings, *words))
    if not done.stdout:
        raise NotRun(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it said nothing")
    return json_of(done)


def _topicloom(*words: str) -> None:
    checked(run_command(topicloom_command(*words, "--quiet")))


def main() -> None:
    table, kind, *more = sys.argv[1:]
    parts = {"--files": file_cells, "--brokers": broker_cells}
    with tempfile.TemporaryDirectory() as scratch:
        for part in more or parts:
            for name, cell in parts[part](Path(scratch), table, kind).items():
                sys.stdout.write(f"{table}, {kind}: {name}: {cell}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
