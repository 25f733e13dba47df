"""DCBR-M (paper 000, Algorithm 11): GM-M in groups of light nodes, then GM-M over their representatives.

Guarantee: maximum degree O(eta + optimum of bulk nodes and representatives x log(nodes x topics)) (Lemma 15).
"""

from __future__ import annotations

from topicloom.builders.combine import combine_groups
from topicloom.builders.divide import KERNEL_NODES, build_groups, divide_nodes
from topicloom.builders.group_count import choose_group_count
from topicloom.builders.split import split_bulk
from topicloom.model.build import Build
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Progress, Stopwatch


def build_dcbr_m(
    interest: Interest,
    *,
    eta: int | str = "auto",
    lambda_: int = 3,
    p: int | str = "auto",
    kernel_nodes: int = KERNEL_NODES,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Deal nodes of at most `eta` topics out to `p` groups, build each, join representatives and the rest.

    Each group is represented by nodes that hold each of its topics `lambda_` times. `p="auto"` makes the
    largest groups of at most `kernel_nodes`, `"paper"` looks for the p of least running time (section V).

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcdefgh"])
    >>> build = build_dcbr_m(interest, lambda_=1, p=2)
    >>> build.overlay.n_edges, build.report["representatives"], build.report["pn_ratio"]
    (7, 2, 0.625)
    """
    watch = Stopwatch(progress)
    with watch.phase("choose p"):
        split = split_bulk(interest, eta)
        limits = {"kernel_nodes": kernel_nodes, "lambda_": lambda_}
        n_groups = choose_group_count(interest, split, p, **limits, seed=seed, progress=progress)
    with watch.phase("divide nodes"):
        groups = divide_nodes(interest, split.light, n_groups, seed)
    with watch.phase("build groups", 1.0):
        overlays = build_groups(groups, threads=threads, progress=progress)
    whole = combine_groups(interest, groups, overlays, lambda_=lambda_, threads=threads, watch=watch)
    n_bulk, n_light = len(split.bulk), len(split.light)
    return Build(
        overlay=whole.overlay,
        algorithm="dcbr-m",
        parameters={"eta": eta, "lambda_": lambda_, "p": p, "kernel_nodes": kernel_nodes},
        seed=seed,
        seconds=watch.seconds,
        report={
            "eta": split.eta,
            "bulk": n_bulk,
            "light": n_light,
            "representatives": whole.representatives,
            "groups": n_groups,
            "pn_ratio": pn_ratio(n_bulk, n_light, whole.representatives, n_groups),
            "inner_edges": whole.inner_edges,
            "outer_edges": whole.outer_edges,
        },
    )


def pn_ratio(n_bulk: int, n_light: int, n_representatives: int, n_groups: int) -> float:
    """The largest share of all nodes that any one node has to know of (000, Equation 12).

    >>> pn_ratio(200, 800, 120, 8), pn_ratio(0, 500, 0, 1)
    (0.405, 1.0)
    """
    known = float(n_bulk)
    if n_groups:
        known += n_light / n_groups + n_representatives * (n_groups - 1) / n_groups
    return known / max(n_bulk + n_light, 1)
