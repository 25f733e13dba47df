"""DCB-M (paper 000, Algorithm 9): GM-M in groups of light nodes, then GM-M over everything.

Guarantee: maximum degree O(eta + optimum x log(nodes x topics)) (Lemma 12).
"""

from __future__ import annotations

from topicloom.builders.combine import combine_groups
from topicloom.builders.divide import KERNEL_NODES, build_groups, divide_nodes
from topicloom.builders.group_count import choose_group_count
from topicloom.builders.split import split_bulk
from topicloom.model.build import Build
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Progress, Stopwatch


def build_dcb_m(
    interest: Interest,
    *,
    eta: int | str = "auto",
    p: int | str = "auto",
    kernel_nodes: int = KERNEL_NODES,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Deal nodes of at most `eta` topics out to `p` groups, build each, join them and all other nodes.

    It saves little time, since every node takes part in the last phase: the yardstick for DCBR-M.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcdef"])
    >>> build = build_dcb_m(interest, p=2)
    >>> build.overlay.n_edges, build.report["groups"]
    (5, 2)
    """
    watch = Stopwatch(progress)
    with watch.phase("choose p"):
        split = split_bulk(interest, eta)
        n_groups = choose_group_count(interest, split, p, kernel_nodes=kernel_nodes)
    with watch.phase("divide nodes"):
        groups = divide_nodes(interest, split.light, n_groups, seed)
    with watch.phase("build groups", 1.0):
        overlays = build_groups(groups, threads=threads, progress=progress)
    whole = combine_groups(interest, groups, overlays, lambda_=None, threads=threads, watch=watch)
    return Build(
        overlay=whole.overlay,
        algorithm="dcb-m",
        parameters={"eta": eta, "p": p, "kernel_nodes": kernel_nodes},
        seed=seed,
        seconds=watch.seconds,
        report={
            "eta": split.eta,
            "bulk": len(split.bulk),
            "light": len(split.light),
            "groups": n_groups,
            "inner_edges": whole.inner_edges,
            "outer_edges": whole.outer_edges,
        },
    )
