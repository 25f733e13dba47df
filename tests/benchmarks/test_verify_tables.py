"""The tables of the verify benchmark have the answer they are said to have."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from benchmarks import bench_verify
from naive.greedy import State
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def partitioned_topics(interest: Interest, edges: pa.Table) -> int:
    overlay, state = Overlay.from_arrow(interest.node_ids, edges), State(interest)
    for u, v in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True):
        state.add(u, v)
    components = [{id(state.NODES[v][t]) for v in interest.nodes_of(t)} for t in range(interest.n_topics)]
    return sum(len(found) > 1 for found in components)


@pytest.mark.slow
def test_one_table_is_connected_and_the_other_lacks_one_block(tmp_path: Path) -> None:
    """Otherwise the benchmark would measure a wrong proof, or accept one."""
    bench_verify.write_tables(nodes=3_000, edges=16_000, folder=str(tmp_path))
    interest = Interest.from_arrow(parquet.read_table(tmp_path / "verify-interest"))
    assert (interest.n_nodes, interest.n_subscriptions) == (3_000, 60_000)
    connected = parquet.read_table(tmp_path / "verify-connected.parquet")
    broken = parquet.read_table(tmp_path / "verify-broken.parquet")
    assert connected.num_rows == 16_000
    assert partitioned_topics(interest, connected) == 0
    assert partitioned_topics(interest, broken) == bench_verify.BLOCK_TOPICS
