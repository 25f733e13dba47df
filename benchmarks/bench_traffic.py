"""A publication log and range subscriptions into channels, rates and wants: `topicloom content traffic`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.harness import (
    Broken,
    Figure,
    Options,
    Row,
    attempt,
    checked,
    fit_exponent,
    in_child,
    json_of,
    run_command,
    topicloom_command,
)

TITLE = "a publication log into channels, rates and wants"
ROWS, USERS, CSV_ROWS = 50_000_000, 10_000, 10_000_000
PART = 2_500_000
ASKED_SECONDS = 300.0


def run(options: Options) -> Iterator[Row]:
    table = "`topicloom content traffic`, one attribute, 2 subscriptions each; start of Spark included"
    sizes = [PART, 2 * PART] if options.quick else [ROWS // 5, ROWS]
    times: list[float] = []

    def cells(rows: int, kind: str) -> dict[str, Figure | str]:
        found = _cells(options, rows, kind, ASKED_SECONDS if rows == ROWS else None)
        if kind == "parquet":
            times.append(found["time"].measured)  # type: ignore[union-attr]
        return found

    for rows in sizes:
        case = f"{rows:,} rows of Parquet, {USERS:,} users"
        yield attempt(table, case, lambda rows=rows: cells(rows, "parquet"))  # type: ignore[misc]
    rows = PART if options.quick else CSV_ROWS
    yield attempt(table, f"{rows:,} rows of CSV, {USERS:,} users", lambda: cells(rows, "csv"))
    if len(times) == len(sizes):
        yield Row("Growth with the rows", "Parquet", {"exponent": Figure(fit_exponent(sizes, times), "")})


def _cells(options: Options, rows: int, kind: str, asked: float | None) -> dict[str, Figure | str]:
    log = options.scratch / f"log-{rows}-{kind}"
    subscriptions = options.scratch / f"subscriptions-{rows}.parquet"
    in_child(
        "bench_traffic:write_input", log=str(log), subscriptions=str(subscriptions), rows=rows, kind=kind
    )
    out = options.scratch / f"problem-{rows}"
    arguments = ["--log", str(log), "--subscriptions", str(subscriptions), "--out", str(out), "--json"]
    done = checked(run_command(topicloom_command("content", "traffic", *arguments)))
    found = json_of(done)
    shutil.rmtree(log)
    if found["log_rows"] != rows or found["users"] != USERS or found["channels"] != 1_000:
        raise Broken(f"{found['log_rows']:,} rows, {found['users']:,} users, {found['channels']:,} channels")
    return {
        "time": Figure(done.seconds, "s", asked),
        "rows per second": Figure(rows / done.seconds, ""),
        "memory of all processes": Figure(done.megabytes, "MB"),
        "false traffic": f"{found['false_positive_share']:.2%}",
        "channels before": f"{found['channels_before']:,}",
    }


def write_input(log: str, subscriptions: str, rows: int, kind: str) -> dict[str, Any]:
    """In a child: a log in parts and the subscriptions, the same every time."""
    rng = np.random.default_rng(1)
    names = pa.array([f"user-{i:05}" for i in range(USERS)])
    Path(log).mkdir(parents=True)
    for part, start in enumerate(range(0, rows, PART)):
        n = min(PART, rows - start)
        table = pa.table(
            {
                # The busiest user publishes far more than most, as users do.
                "publisher": names.take(pa.array((rng.random(n) ** 2 * USERS).astype(np.int32))),
                "time": np.round(start + np.arange(n) + rng.random(n), 3) / 1_000,
                "value": np.round(rng.normal(50.0, 15.0, n), 4),
            }
        )
        if kind == "csv":
            pyarrow.csv.write_csv(
                table, f"{log}/part-{part:03}.csv", pyarrow.csv.WriteOptions(quoting_style="none")
            )
        else:
            pq.write_table(table, f"{log}/part-{part:03}.parquet")
    middle, width = rng.normal(50.0, 20.0, 2 * USERS), rng.exponential(3.0, 2 * USERS) + 0.001
    table = pa.table(
        {
            "user": names.take(pa.array(np.repeat(np.arange(USERS), 2))),
            "subscription": pa.array(["1", "2"] * USERS),
            "attribute": pa.array(["value"] * (2 * USERS)),
            "low": np.round(middle - width, 4),
            "high": np.round(middle + width, 4),
        }
    )
    pq.write_table(table, subscriptions)
    return {"rows": rows}
