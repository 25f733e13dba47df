"""Divide and conquer on Spark must take the edges of the local engine, however Spark cuts its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from topicloom.base.progress import SILENT
from topicloom.errors import InputError
from topicloom.overlay.builders.registry import BUILDERS
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.run_folder import open_run
from topicloom.overlay.spark.builders import SPARK_BUILDERS, SparkBuild
from topicloom.overlay.spark.encode import EncodedInterest, read_interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.tables.refused import NONE_REFUSED
from topicloom.tables.source import interest_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOADS = {
    "uneven": {"nodes": 700, "topics": 60, "subscriptions": "1:12", "popularity": "zipf:0.5", "seed": 3},
    "even": {"nodes": 500, "topics": 300, "subscriptions": "6", "popularity": "uniform", "seed": 4},
}
# Any whole number is a seed, and the edges do not depend on the partitions of a table or of a shuffle: each
# case takes a seed and a number of partitions of its own (None: the table as it was written, 2 in a shuffle).
CASES: list[tuple[str, str, dict[str, Any], int, int | None]] = [
    *(("uneven", name, {}, 7, None) for name in SPARK_BUILDERS),  # as they are by default
    ("uneven", "dcbr-m", {"kernel_nodes": 120, "lambda_": 3}, 7, 1),  # several levels
    ("uneven", "dcbr-m", {"kernel_nodes": 60, "lambda_": 1, "eta": 4}, 2**63, None),
    ("uneven", "dcbr-m", {"eta": 0, "kernel_nodes": 100}, 2**64 + 5, 5),  # bulk nodes only
    ("uneven", "dcbr-m", {"p": "paper"}, -1, None),
    ("even", "dcbr-m", {"kernel_nodes": 40}, 7, None),  # no level shrinks: one flat call
    ("uneven", "dcbr-m", {"p": 6, "inner": "gm-m", "polish": 2, "lambda_": 3}, 11, 5),
    ("uneven", "dcbr-m", {"kernel_nodes": 120, "inner": "gm", "polish": "none"}, 3, None),
    ("uneven", "dcb-m", {"p": 5, "inner": "balanced"}, 7, 5),
    ("uneven", "ring-pt", {"order": "random"}, 7, 5),
]


@pytest.fixture(scope="module")
def interests(spark: SparkSession, tmp_path_factory) -> dict[str, tuple[Interest, EncodedInterest]]:
    folder = tmp_path_factory.mktemp("encoded")
    found = {}
    for name, options in WORKLOADS.items():
        interest = generate_interest(workload_from_options(**options))
        pq.write_table(interest.to_arrow(), folder / f"{name}.parquet")
        source = interest_source(folder / f"{name}.parquet")
        found[name] = (interest, read_interest(spark, source, work_dir=folder / name).encoded)
    return found


@contextmanager
def built(
    spark: SparkSession,
    encoded: EncodedInterest,
    out: Path,
    name: str,
    *,
    seed: int = 7,
    **options: Any,
) -> Iterator[SparkBuild]:
    defaults = {key: parameter.default for key, parameter in BUILDERS[name].parameters.items()}
    common = {"seed": seed, "notice": lambda text: None, "progress": SILENT}
    with open_run(out, {}, resume=False, now=lambda: 0.0) as run:
        yield SPARK_BUILDERS[name](spark, encoded, run, **{**defaults, **options}, **common)


def edges_of(build: SparkBuild) -> list[tuple[int, int]]:
    tables = [pq.read_table(path) for path in build.edges]
    u, v = (np.concatenate([table[end].to_numpy() for table in tables]) for end in ("u", "v"))
    return sorted(zip(np.minimum(u, v).tolist(), np.maximum(u, v).tolist(), strict=True))


def test_the_registry_and_the_engine_name_the_same_builders():
    assert set(SPARK_BUILDERS) == {name for name, builder in BUILDERS.items() if "spark" in builder.engines}


@pytest.mark.parametrize(("workload", "name", "options", "seed", "partitions"), CASES)
def test_edges_parameters_and_report_are_those_of_the_local_engine(
    spark, interests, tmp_path, workload, name, options, seed, partitions
):
    interest, encoded = interests[workload]
    local = BUILDERS[name].build(interest, seed=seed, **options)
    with (
        cut_into(spark, encoded, partitions, tmp_path / "pairs") as table,
        built(spark, table, tmp_path / "out", name, seed=seed, **options) as found,
    ):
        expected = zip(local.overlay.u.tolist(), local.overlay.v.tolist(), strict=True)
        assert edges_of(found) == sorted(expected)
        assert found.n_edges == local.overlay.n_edges
        assert found.degree_max == local.overlay.degrees().max()
        assert found.parameters == local.parameters
        assert found.report == local.report


@contextmanager
def cut_into(
    spark: SparkSession, encoded: EncodedInterest, partitions: int | None, folder: Path
) -> Iterator[EncodedInterest]:
    """Yield the same interest as a table of so many partitions; shuffles have as many meanwhile."""
    if partitions is None:
        yield encoded
        return
    spark.read.parquet(f"file://{encoded.pairs}").repartition(partitions).write.parquet(f"file://{folder}")
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        yield replace(encoded, pairs=str(folder))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


def test_the_edges_do_not_depend_on_how_large_tables_are_joined(spark, tmp_path, monkeypatch):
    """Small tables are numbered on the driver and sent to every task; large ones are not."""
    import topicloom.overlay.spark.encode as encode
    import topicloom.overlay.spark.write_build as result

    monkeypatch.setattr("topicloom.tables.spark.step_tables.BROADCAST_BYTES", -1)
    monkeypatch.setattr(encode, "SMALL_ROWS", 0)
    interest = generate_interest(workload_from_options(**WORKLOADS["uneven"]))
    pq.write_table(interest.to_arrow(), tmp_path / "table.parquet")
    source = interest_source(tmp_path / "table.parquet")
    encoded = read_interest(spark, source, work_dir=tmp_path / "encoded").encoded
    local = BUILDERS["dcbr-m"].build(interest, seed=7, kernel_nodes=120, lambda_=3).overlay
    with built(spark, encoded, tmp_path / "out", "dcbr-m", kernel_nodes=120, lambda_=3) as found:
        assert edges_of(found) == sorted(zip(local.u.tolist(), local.v.tolist(), strict=True))
        result.write_build(spark, encoded, found.edges, str(tmp_path), progress=SILENT)
    assert pq.read_table(tmp_path / "edges.parquet").to_pylist() == local.to_arrow().to_pylist()
    assert pq.read_table(tmp_path / "interest.parquet").to_pylist() == interest.to_arrow().to_pylist()


def test_several_levels_and_a_flat_call_were_among_the_cases(interests):
    """Otherwise the comparison above says nothing about them."""
    levels = (
        BUILDERS["dcbr-m"].build(interests["uneven"][0], seed=7, kernel_nodes=120, lambda_=3).report["levels"]
    )
    assert len(levels) > 2 and max(level["largest_group"] for level in levels) <= 120
    flat = BUILDERS["dcbr-m"].build(interests["even"][0], seed=7, kernel_nodes=40).report
    assert "flat: its only group holds 500 nodes" in flat["remark"]


def test_a_worker_that_dies_names_its_group(spark, interests, tmp_path, monkeypatch):
    """A system short of memory ends the process: Spark only says that a worker is gone."""
    import topicloom.overlay.spark.divide as divide

    def deadly(phase: str, inner: str) -> Any:
        def run(batches):
            import os
            import signal

            for batch in batches:
                if batch.num_rows and batch.column("group")[0].as_py() == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
            yield from ()

        return run

    monkeypatch.setattr(divide, "conquer_task", deadly)
    with (
        pytest.raises(InputError, match=r"conquer: group 2 ran out of memory.*`kernel_nodes=N`"),
        built(spark, interests["uneven"][1], tmp_path / "out", "dcbr-m", kernel_nodes=120, lambda_=3),
    ):
        pass


def test_a_group_without_memory_is_named_with_what_helps(spark, interests, tmp_path, monkeypatch):
    """What numpy and numba raise where the worker's memory is limited."""
    import topicloom.overlay.spark.divide as divide
    from topicloom.overlay.spark.divide_tasks import _task

    def hungry(phase: str, inner: str) -> Any:
        def build(group):
            if group.number == 1:
                np.empty(1 << 60, dtype=np.uint8)  # more than any machine has: a real MemoryError
            import pyarrow as pa

            return pa.table({"u": group.nodes[:0], "v": group.nodes[:0]})

        return _task(phase, build)

    monkeypatch.setattr(divide, "conquer_task", hungry)
    from pyspark.errors import PySparkException

    from topicloom.tables.spark.failures import translated

    with (
        pytest.raises(PySparkException) as caught,
        built(spark, interests["uneven"][1], tmp_path / "out", "dcbr-m", kernel_nodes=120, lambda_=3),
    ):
        pass
    told = str(translated(caught.value, "table"))
    assert told.startswith("conquer: group 1 with ") and "`kernel_nodes=N`" in told


def test_dcb_m_is_refused_where_one_task_would_hold_too_many_nodes():
    """Its last step joins all nodes at once; nothing is read before that is said."""
    from topicloom.errors import UsageError

    nothing = {"nodes": "", "topics": "", "pairs": "", "digest": "", "duplicates": 0, "refused": NONE_REFUSED}
    sizes = {"n_nodes": 50_000, "n_topics": 1, "n_subscriptions": 50_000, "node_bytes": 0, "topic_bytes": 0}
    encoded = EncodedInterest(**nothing, **sizes)
    asked = {
        "inner": "gm-m",
        "polish": "auto",
        "eta": "auto",
        "p": "auto",
        "seed": 0,
        "notice": print,
        "progress": SILENT,
    }
    with pytest.raises(
        UsageError, match=r"all 50,000 nodes in one task.*name dcbr-m, or `kernel_nodes=50000`"
    ):
        SPARK_BUILDERS["dcb-m"](None, encoded, None, kernel_nodes=40_000, **asked)
