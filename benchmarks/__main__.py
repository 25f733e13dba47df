"""`python -m benchmarks [NAME...] [--quick | --brief]`: run benchmarks, print tables, write RESULTS.md."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import brief
from benchmarks.harness import Broken, NotRun, Options, Row, section, table_lines, write_results

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"


BY_NAME = ("mesh_guide", "spark_large")  # what runs for an hour runs only if it is named


def names() -> list[str]:
    """Every benchmark there is, by file name."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def run_one(name: str, options: Options) -> tuple[str, list[Row]]:
    """Run one benchmark and print each row as it is ready."""
    module = importlib.import_module(f"benchmarks.bench_{name}")
    print(f"\n## {name}: {module.TITLE}", flush=True)
    rows: list[Row] = []
    try:
        for row in module.run(options):
            if not rows or rows[-1].table != row.table:
                print(f"\n{row.table}", flush=True)
            rows.append(row)
            print(f"  {_plain(row)}", flush=True)
    except NotRun as reason:
        rows.append(
            Row(
                module.TITLE,
                "all" if not rows else "the rest",
                not_run=str(reason),
                broken=isinstance(reason, Broken),
            )
        )
        print(f"NOT RUN: {reason}", flush=True)
    print("\n".join(table_lines(rows)), flush=True)
    return module.TITLE, rows


def run_brief(chosen: Sequence[str]) -> None:
    """Run the quick cases of some benchmarks and print each figure beside the last one."""
    last = brief.read_last(RESULTS.read_text(encoding="utf-8"))
    end = time.monotonic() + brief.BUDGET
    with tempfile.TemporaryDirectory(prefix="topicloom-bench-") as scratch:
        options = Options(scratch=Path(scratch), quick=True)
        for name in chosen:
            module = importlib.import_module(f"benchmarks.bench_{name}")
            print(f"\n{name}: {module.TITLE}", flush=True)
            for row in brief.while_time(module.run(options), end):
                for line in brief.beside_last(name, [row], last):
                    print(f"  {line}", flush=True)


def _plain(row: Row) -> str:
    if row.not_run is not None:
        return f"{row.case}: NOT RUN: {row.not_run}"
    return f"{row.case}: " + ", ".join(f"{name} {cell}" for name, cell in row.cells.items())


def child(target: str, arguments: str) -> None:
    """The inside of `harness.in_child`: call one function, print its answer as one line of JSON."""
    module, function = target.split(":")
    answer = getattr(importlib.import_module(f"benchmarks.{module}"), function)(**json.loads(arguments))
    print(json.dumps(answer), flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(names())}")
    parser.add_argument("--quick", action="store_true", help="no large cases, no repeats, no RESULTS.md")
    parser.add_argument("--brief", action="store_true", help="five minutes; figures beside the last ones")
    parser.add_argument("--child", nargs=2, metavar=("TARGET", "JSON"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        child(*given.child)
        return 0
    unknown = [name for name in given.names if name not in names()]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(names())}")
    if given.brief:
        run_brief(given.names or brief.NAMES)
        return 0
    command = " ".join(["python -m benchmarks", *given.names])
    sections: dict[str, str] = {}
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="topicloom-bench-") as scratch:
        options = Options(scratch=Path(scratch), quick=given.quick)
        for name in given.names or [name for name in names() if name not in BY_NAME]:
            title, rows = run_one(name, options)
            sections[name] = section(name, title, command, rows)
            missed += [f"{name}: {row.table}, {row.case}" for row in rows if row.missed]
            if not given.quick:
                write_results(RESULTS, sections)  # after each, so an interrupted run keeps what it has
    for case in missed:
        print(f"MISSED by more than 20%: {case}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
