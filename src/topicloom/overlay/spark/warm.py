"""Compile the kernels that Spark's tasks call."""

from __future__ import annotations

import numpy as np

from topicloom.overlay.builders.baselines import build_ring_pt
from topicloom.overlay.builders.dcb_m import build_dcb_m, build_dcbr_m
from topicloom.overlay.kernels.judge_union_find import fresh_slots, join_pairs
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.diameter import topic_diameter_bounds
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.measures.hops import hop_counts
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options


def warm_tasks() -> None:
    """Run the kernels that tasks call, once each, so that their machine code lies beside them on disk."""
    interest = generate_interest(
        workload_from_options(300, topics=20, subscriptions="2:6", popularity="zipf:0.5")
    )
    for build in (build_ring_pt, build_dcb_m, build_dcbr_m):
        check_overlay(interest, build(interest).overlay)
    build_ring_pt(interest, order="random")
    build_dcbr_m(interest, polish=1)
    join_pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), fresh_slots(1))
    view = view_of(interest, build_ring_pt(interest).overlay, threads=1)
    topic_diameter_bounds(view)
    hop_counts(view)
    interest_digest(interest)
