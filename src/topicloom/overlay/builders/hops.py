"""Bounds on hops: what `auto` means, and what a builder says of the bound it kept or missed."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT
from topicloom.overlay.measures.diameter import topic_diameter_bounds
from topicloom.overlay.measures.hops import measure_hops
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

MaxHops = Annotated[
    int | str,
    Parameter(
        "the most hops between two subscribers inside a topic; auto: 2 ceil(log2 n) of the largest topic, "
        "more where that cannot be had",
        ("auto", "none"),
        1,
    ),
]
NAMED = 5  # topics that a report names


def auto_hops(interest: Interest) -> int:
    """Return 2 ceil(log2 n), n being the size of the largest topic: what a tree of degree 3 about reaches.

    >>> auto_hops(Interest.from_pairs([(node, "x") for node in "abcdefghi"]))
    8
    """
    largest = int(interest.topic_sizes().max(initial=0))
    return 2 * max((largest - 1).bit_length(), 1)  # in integers: the same on every machine


def asked_hops(interest: Interest, max_hops: int | str) -> int | None:
    """Return the bound in force; None where hops do not matter."""
    if max_hops == "none":
        return None
    return auto_hops(interest) if max_hops == "auto" else int(max_hops)


def topic_hops(interest: Interest, overlay: Overlay, *, threads: int | None = None) -> Longs:
    """Return the diameter inside each topic (an upper bound where it is too large to be exact); split: -1."""
    return topic_diameter_bounds(view_of(interest, overlay, threads=threads, progress=SILENT))[1]


def hops_report(
    interest: Interest, overlay: Overlay, max_hops: int | str, *, threads: int | None = None
) -> dict[str, Any]:
    """Return what a build says of its bound on hops: asked for, found, and the topics beyond it."""
    bound = asked_hops(interest, max_hops)
    if bound is None:
        return {}
    found = topic_hops(interest, overlay, threads=threads)
    measured = measure_hops(view_of(interest, overlay, threads=threads, progress=SILENT))
    longest = int(found.max(initial=0))
    report: dict[str, Any] = {"max_hops": bound, "hops_max": longest, "hops_kept": longest <= bound}
    report |= {key: measured[key] for key in ("hops_mean", "hops_p95")}
    if longest > bound:
        beyond = np.flatnonzero(found > bound)
        order = beyond[np.argsort(-found[beyond], kind="stable")]
        report["topics_beyond"] = [interest.topic_ids[int(t)].as_py() for t in order[:NAMED]]
        report["topics_beyond_count"] = len(beyond)
        if max_hops == "auto":
            report["remark"] = (
                f"no overlay with at most {bound} hops inside every topic was found; this one has {longest}"
            )
    return report
