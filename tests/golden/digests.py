"""Digests of what topicloom makes: edges of every builder, plans, simulations, exports.

    python tests/golden/digests.py              compare with digests.json; exit 1 and list what differs
    python tests/golden/digests.py simulations  compare one part: builds, simulations, contents or exports
    python tests/golden/digests.py --write      write digests.json anew, after a change that is meant

Only the command line and `import topicloom` are used, so the digests outlive any change of the code inside.
One process, one Spark session: about five minutes.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import topicloom
from topicloom.cli.main import execute

KEPT = Path(__file__).with_name("digests.json")
TIMES = {"seconds", "phases", "version"}
"""Keys of JSON files that differ from run to run."""

INTERESTS = {
    "uniform": ["--nodes", "200", "--topics", "100", "--subscriptions", "10:40", "--popularity", "uniform"],
    "zipf": ["--nodes", "200", "--topics", "100", "--subscriptions", "10:40", "--popularity", "zipf:2"],
    "geometric": [
        "--nodes", "200", "--topics", "100", "--subscriptions", "10:40", "--popularity", "geometric:0.1",
    ],
    "rss": ["--nodes", "500", "--topics", "100", "--subscriptions", "10", "--popularity", "rss"],
    "twins": ["--nodes", "600", "--topics", "8", "--subscriptions", "1:4", "--popularity", "zipf:1"],
}  # fmt: skip
"""Five drawn interests; the sixth is the table of PX4 modules that comes with the package."""
PX4 = Path(topicloom.__file__).parent / "data" / "px4-uorb-pubsub.tsv.gz"
SMALL = ["--nodes", "24", "--topics", "12", "--subscriptions", "2:5", "--popularity"]
"""What `exact` is given: it must end by proof, never by time."""


def main(arguments: list[str]) -> int:
    part = arguments[0] if arguments and arguments != ["--write"] else ""
    with tempfile.TemporaryDirectory() as name:
        found = dict(all_digests(Path(name), part))
    if arguments == ["--write"]:
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    kept = json.loads(KEPT.read_text())
    keys = found if part else kept | found
    different = [key for key in keys if kept.get(key) != found.get(key)]
    for key in different:
        print(f"{key}: {kept.get(key, 'absent')} -> {found.get(key, 'absent')}")
    print(f"{len(found) - len(different)} of {len(found)} digests are the same")
    return 1 if different else 0


def all_digests(folder: Path, part: str = "") -> Iterator[tuple[str, str]]:
    tables = dict(interests(folder))
    parts = {
        "builds": lambda: builds(tables, folder),
        "simulations": lambda: simulations(tables, folder),
        "contents": lambda: contents(folder),
        "exports": lambda: exports(tables, folder),
    }
    for name in [part] if part else parts:
        yield from parts[name]()


def interests(folder: Path) -> Iterator[tuple[str, topicloom.Interest]]:
    for name, options in INTERESTS.items():
        run("generate", folder / f"{name}.csv", *options, "--seed", 1)
        yield name, topicloom.read(folder / f"{name}.csv")
    yield "px4", topicloom.read(PX4, header=False)


def builds(tables: dict[str, topicloom.Interest], folder: Path) -> Iterator[tuple[str, str]]:
    for algorithm in [row["algorithm"] for row in listed("build")]:
        for number, (name, interest) in enumerate(tables.items()):
            if algorithm == "exact":
                path = folder / f"small-{number}.csv"
                run("generate", path, *SMALL, ["uniform", "zipf:1", "rss"][number % 3], "--seed", number)
                interest = topicloom.read(path)
            for seed in (0, 7):
                edges = topicloom.build(interest, algorithm, seed=seed, threads=1 + seed % 2).overlay
                yield f"build {algorithm} {name} {seed}", digest(edges.to_pandas().to_csv(index=False))
    out = folder / "spark"
    # On Spark dcb-m takes no more nodes than kernel_nodes: four groups are what 150 would give.
    for algorithm, setting in (("dcb-m", "p=4"), ("dcbr-m", "kernel_nodes=150")):
        run("build", folder / "rss.csv", "--engine", "spark", "--algorithm", algorithm,
            "--set", setting, "--out", out)  # fmt: skip
        edges = topicloom.load_build(out).overlay  # Spark gives its files a new name each time
        yield f"build on spark {algorithm}", digest(edges.to_pandas().to_csv(index=False))


REPLAY = "links.parquet"  # tests/spidercast/simulator/test_folder.py judges it by last/
SIMULATIONS = {
    "constant": ["--set", "snapshot=0"],
    "ranged": ["--set", "latency=0.005:0.05", "--set", "snapshot=0"],
    "loss": ["--set", "snapshot=0", "--set", "loss=0.02", "--set", "publish=5", "--set", "seconds=20"],
    "churn": ["--set", "life=60", "--set", "crash=0.5", "--set", "seconds=120", "--set", "snapshot=20"],
    "gossip": [
        "--set",
        "snapshot=0",
        "--set",
        "view=gossip",
        "--set",
        "seconds=30",
        "--set",
        "ordered=true",
        "--set",
        "publish=2",
    ],
}


def simulations(tables: dict[str, topicloom.Interest], folder: Path) -> Iterator[tuple[str, str]]:
    for protocol in ("spidercast", "similarity", "random"):
        for name, options in SIMULATIONS.items():
            out = folder / f"{protocol}-{name}"
            run("simulate", folder / "zipf.csv", "--protocol", protocol, "--seed", 3, *options, "--out", out)
            yield f"simulate {protocol} {name}", of_folder(out)


def contents(folder: Path) -> Iterator[tuple[str, str]]:
    for name, options in {
        "plane": ["--users", "200", "--brokers", "8", "--channels", "30", "--width", "0.05"],
        "dear core": ["--users", "200", "--brokers", "8", "--channels", "30", "--width", "0.02",
                      "--ratio", "0.1", "--model", "iid"],
        "tiny": ["--users", "8", "--brokers", "3", "--channels", "5"],
    }.items():  # fmt: skip
        problem = folder / name
        run("content", "generate", problem, *options, "--seed", 5)
        yield f"content problem {name}", of_folder(problem)
        for planner in [row["algorithm"] for row in listed("content", "plan")]:
            if (planner == "exact") != (name == "tiny") and planner in ("exact", "clustering"):
                continue
            for model in ("free", "shared", "unicast"):
                out = folder / f"{name}-{planner}-{model}"
                run("content", "plan", problem, "--algorithm", planner, "--core-model", model, "--out", out)
                yield f"content plan {name} {planner} {model}", of_folder(out)
        if name != "tiny":
            run("content", "simulate", problem, "--out", folder / f"{name}-simulated", "--seed", 2)
            yield f"content simulate {name}", of_folder(folder / f"{name}-simulated")


def exports(tables: dict[str, topicloom.Interest], folder: Path) -> Iterator[tuple[str, str]]:
    build = folder / "exported"
    run("build", PX4, "--no-header", "--algorithm", "gm-m", "--out", build)
    yield "build folder", of_folder(build)
    nodes = sorted(tables["px4"].node_ids.to_pylist())
    write(folder / "hosts.csv", ["node", "host"], [(node, f"h{k}.example") for k, node in enumerate(nodes)])
    write(
        folder / "logins.csv",
        ["node", "user", "password"],
        [(node, f"u{k}", f'p"{k}') for k, node in enumerate(nodes)],
    )
    hosts = ["--hosts", folder / "hosts.csv"]
    logins = [*hosts, "--credentials", folder / "logins.csv"]
    for kind in [row["kind"] for row in listed("export")]:
        options = {
            "mosquitto": [*logins, "--backups", 2, "--split", 2, "--seed", 4],
            "nats": [*logins, "--backups", 1, "--seed", 4],
            "zenoh": [*logins, "--seed", 4],
            "gossipsub": [*hosts, "--seed", 4],
        }.get(kind, [])
        out = folder / f"export-{kind}"
        run("export", kind, build, "--out", out, *options)
        yield f"export {kind}", of_folder(out)


def run(*arguments: object) -> str:
    """What a command prints on stdout; it must end well (1: a plan that overflows is a result too)."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = execute([*map(str, arguments), "--quiet"])
    assert code in (0, 1), (code, arguments)
    return printed.getvalue()


def listed(*command: str) -> list[dict[str, Any]]:
    """The rows of a command's `--list --json`."""
    found = json.loads(run(*command, "--list", "--json"))
    (rows,) = (value for value in found.values() if isinstance(value, list))
    return rows


def of_folder(folder: Path) -> str:
    """A digest of all files of a folder but pictures, with their names; times are left out."""
    texts = [
        f"{path.relative_to(folder)}\n{content(path)}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".png", ".svg", ".crc") and path.name != REPLAY
    ]
    return digest("\n".join(texts))


def content(path: Path) -> str:
    if path.suffix == ".parquet":
        return json.dumps(pq.read_table(path).to_pydict(), default=str)
    if path.suffix == ".json":
        return json.dumps(timeless(json.loads(path.read_text())))
    return hashlib.sha256(path.read_bytes().replace(topicloom.__version__.encode(), b"V")).hexdigest()


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key not in TIMES}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def write(path: Path, header: list[str], rows: list[tuple[str, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
