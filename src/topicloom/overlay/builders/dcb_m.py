"""DCB-M [Chen2010, Algorithm 9]: GM-M in groups of light nodes, then GM-M over everything.

Guarantee: maximum degree O(eta + optimum x log(nodes x topics)) (Lemma 12).
"""

from __future__ import annotations

from typing import Annotated

from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.builders.divide.deal import KERNEL_NODES
from topicloom.overlay.builders.divide.local import divide_and_conquer
from topicloom.overlay.builders.divide.plan import Eta, KernelNodes, Settings
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest


def build_dcb_m(
    interest: Interest,
    *,
    eta: Eta = "auto",
    p: Annotated[int | str, Parameter("groups of light nodes", ("auto",), 1)] = "auto",
    kernel_nodes: KernelNodes = KERNEL_NODES,
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
    settings = Settings(p, None, kernel_nodes)
    return divide_and_conquer(
        interest, "dcb-m", settings, eta=eta, seed=seed, threads=threads, progress=progress
    )
