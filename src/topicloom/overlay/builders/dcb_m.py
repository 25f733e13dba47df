"""DCB-M and DCBR-M [Chen2010, Algorithms 9 and 11]: GM-M in groups of light nodes, then GM-M over the rest.

`inner` puts GM, or GM under a cap, in the place of GM-M; `polish` is a last phase of our own.

The last phase joins all nodes in DCB-M, and only bulk nodes and representatives of the groups in DCBR-M.
Maximum degree: O(eta + optimum x log(nodes x topics)) (Lemma 12); for DCBR-M the optimum is that of bulk
nodes and representatives (Lemma 15).
"""

from __future__ import annotations

from typing import Annotated

from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.builders.divide.groups import KERNEL_NODES
from topicloom.overlay.builders.divide.local import divide_and_conquer
from topicloom.overlay.builders.divide.plan import (
    BALANCED,
    GM_M,
    DivideSettings,
    Eta,
    Inner,
    KernelNodes,
    Polish,
)
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest


def build_dcb_m(
    interest: Interest,
    *,
    eta: Eta = "auto",
    p: Annotated[int | str, Parameter("groups of light nodes", ("auto",), 1)] = "auto",
    kernel_nodes: KernelNodes = KERNEL_NODES,
    inner: Inner = GM_M,
    polish: Polish = "auto",
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
    settings = DivideSettings(p, None, kernel_nodes, eta, inner, polish)
    return divide_and_conquer(interest, "dcb-m", settings, seed=seed, threads=threads, progress=progress)


def build_dcbr_m(
    interest: Interest,
    *,
    eta: Eta = "auto",
    lambda_: Annotated[int, Parameter("representatives of each topic in a group", least=1)] = 6,
    p: Annotated[
        int | str,
        Parameter("groups of light nodes; paper looks for the least running time", ("auto", "paper"), 1),
    ] = "auto",
    kernel_nodes: KernelNodes = KERNEL_NODES,
    inner: Inner = BALANCED,
    polish: Polish = "auto",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Deal nodes of at most `eta` topics out to `p` groups, build each, join representatives and the rest.

    Each group is represented by nodes that hold each of its topics `lambda_` times. `p="auto"` makes the
    largest groups of at most `kernel_nodes`, `"paper"` looks for the p of least running time (section V).
    Where more than `kernel_nodes` bulk nodes and representatives are left they are divided again. The paper's
    builder is that of `inner="gm-m"`; the default has fewer edges and as low a maximum degree.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcdefgh"])
    >>> build = build_dcbr_m(interest, lambda_=1, p=2)
    >>> build.overlay.n_edges, build.report["representatives"], build.report["pn_ratio"]
    (7, 2, 0.625)
    """
    settings = DivideSettings(p, lambda_, kernel_nodes, eta, inner, polish)
    return divide_and_conquer(interest, "dcbr-m", settings, seed=seed, threads=threads, progress=progress)
