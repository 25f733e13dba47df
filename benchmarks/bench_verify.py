"""Proving a large overlay topic-connected by the command line, and finding the one topic set that is not.

The interest is made so that the answer is known: topics come in blocks of five, a node wants four blocks,
and a path through the nodes of every block connects all of its topics. Edges beyond the paths are random.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from benchmarks.harness import (
    Broken,
    Figure,
    Options,
    Row,
    attempt,
    checked,
    in_child,
    json_of,
    run_command,
    topicloom_command,
)
from topicloom.base.ids import numbered_ids

TITLE = "proving topic-connectivity on Spark"
ASKED_SECONDS = 180.0
NODES, EDGES = 1_000_000, 5_000_000
QUICK = 20  # so many times smaller
BLOCKS, BLOCK_TOPICS, BLOCKS_PER_NODE = 2_000, 5, 4
PARTS = 8

Array = NDArray[np.int64]


def run(options: Options) -> Iterator[Row]:
    nodes, edges = (NODES // QUICK, EDGES // QUICK) if options.quick else (NODES, EDGES)
    in_child("bench_verify:write_tables", nodes=nodes, edges=edges, folder=str(options.scratch))
    pairs = nodes * BLOCKS_PER_NODE * BLOCK_TOPICS
    table = f"{pairs:,} pairs and {edges:,} edges in Parquet, start of Spark included"
    asked = None if options.quick else ASKED_SECONDS
    for name, exit_code, partitioned in (("connected", 0, 0), ("broken", 1, BLOCK_TOPICS)):
        case = f"`topicloom verify`, {partitioned} topics partitioned"
        yield attempt(table, case, partial(_command_cells, options, name, exit_code, partitioned, asked))
    for path in ("driver", "bucketed"):
        yield attempt(table, f"the {path} path", partial(_path_cells, options, path))


def _command_cells(
    options: Options, name: str, exit_code: int, partitioned: int, asked: float | None
) -> dict[str, Figure | str]:
    command = topicloom_command("verify", *map(str, _tables(options, name)), "--json", "--quiet")
    done = checked(run_command(command), exit_code)
    _expect(json_of(done), partitioned)
    return {
        "time": Figure(done.seconds, "s", asked),
        "memory of all processes": Figure(done.megabytes, "MB"),
    }


def _path_cells(options: Options, path: str) -> dict[str, Figure | str]:
    interest, edges = map(str, _tables(options, "broken"))
    arguments = json.dumps({"interest": interest, "edges": edges, "path": path})
    command = [sys.executable, "-m", "benchmarks", "--child", "bench_verify:verify", arguments]
    done = checked(run_command(command))
    _expect(json_of(done), BLOCK_TOPICS)
    return {
        "time": Figure(done.seconds, "s"),
        "memory of all processes": Figure(done.megabytes, "MB"),
    }


def _tables(options: Options, name: str) -> tuple[Path, Path]:
    return options.scratch / "verify-interest", options.scratch / f"verify-{name}.parquet"


def _expect(answer: dict[str, Any], partitioned: int) -> None:
    """A fast answer must also be the right one."""
    if answer["topics_partitioned"] != partitioned:
        raise Broken(f"{answer['topics_partitioned']} topics partitioned instead of {partitioned}")


def verify(interest: str, edges: str, path: str) -> dict[str, Any]:
    """In a child: verify by one of the two paths."""
    from topicloom.overlay.spark.verify import verify_tables
    from topicloom.tables.source import edges_source, interest_source
    from topicloom.tables.spark.read import read_table
    from topicloom.tables.spark.session import get_session, stop_session

    spark = get_session()
    pairs = read_table(spark, interest_source(interest)).rows
    links = read_table(spark, edges_source(edges)).rows
    verdict = verify_tables(spark, pairs, links, path=path)
    stop_session()
    return {"topics_partitioned": verdict.topics_partitioned}


def write_tables(nodes: int, edges: int, folder: str) -> dict[str, Any]:
    """In a child: the interest, the edges that connect it, and the same with one node of a block cut off."""
    draw = np.random.default_rng(1)
    share = BLOCKS // BLOCKS_PER_NODE
    # One block from each quarter of the blocks: four distinct ones without a second draw.
    wanted = draw.integers(0, share, (nodes, BLOCKS_PER_NODE)) + np.arange(BLOCKS_PER_NODE) * share
    names = numbered_ids("n", nodes)
    _write_interest(Path(folder) / "verify-interest", wanted, names)
    order = np.argsort(wanted.ravel(), kind="stable")
    members, blocks = order // BLOCKS_PER_NODE, wanted.ravel()[order]
    u, v = members[:-1], members[1:]
    path = np.unique(np.stack([u, v], axis=1)[blocks[:-1] == blocks[1:]], axis=0)
    both = _padded(path, edges, nodes, draw)
    _write_edges(Path(folder) / "verify-connected.parquet", both, names)
    # The first node of block 0 loses its neighbor on that path; an edge to any other of the block goes too.
    lonely, rest = members[0], members[: np.searchsorted(blocks, 0, side="right")]
    cut = (both == lonely).any(axis=1) & np.isin(both, rest).all(axis=1)
    _write_edges(Path(folder) / "verify-broken.parquet", both[~cut], names)
    return {"edges": len(both), "cut": int(cut.sum())}


def _padded(path: Array, edges: int, nodes: int, draw: np.random.Generator) -> Array:
    """The edges of the paths and random other ones, `edges` in all, sorted."""
    known = path[:, 0] * nodes + path[:, 1]
    ends = np.sort(draw.integers(0, nodes, (2 * (edges - len(path)), 2)), axis=1)
    others = np.setdiff1d((ends[:, 0] * nodes + ends[:, 1])[ends[:, 0] < ends[:, 1]], known)
    keys = np.sort(np.concatenate([known, draw.permutation(others)[: edges - len(path)]]))
    return np.stack(np.divmod(keys, nodes), axis=1)


def _write_interest(folder: Path, wanted: Array, names: pa.StringArray) -> None:
    folder.mkdir()
    topics = numbered_ids("t", BLOCKS * BLOCK_TOPICS)
    for part, chunk in enumerate(np.array_split(np.arange(len(wanted)), PARTS)):
        numbers = (wanted[chunk, :, None] * BLOCK_TOPICS + np.arange(BLOCK_TOPICS)).reshape(-1)
        owners = np.repeat(chunk, BLOCKS_PER_NODE * BLOCK_TOPICS)
        columns = {"node": names.take(pa.array(owners)), "topic": topics.take(pa.array(numbers))}
        parquet.write_table(pa.table(columns), folder / f"part-{part}.parquet")


def _write_edges(path: Path, edges: Array, names: pa.StringArray) -> None:
    ends = {side: names.take(pa.array(edges[:, column])) for column, side in enumerate("uv")}
    parquet.write_table(pa.table(ends), path, row_group_size=500_000)
