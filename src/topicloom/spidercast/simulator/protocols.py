"""The protocols of [Chockler2007b]: each turns its parameters into the goals of a node."""

from __future__ import annotations

from typing import Annotated

from topicloom.base.parameters import Parameter
from topicloom.spidercast.protocol.goals import NodeGoals

ADAPTIVE = "adaptive"
ON_OFF = ("on", "off")
RandomLinks = Annotated[int, Parameter("links to random nodes", least=0)]


def spidercast(
    kg: Annotated[int, Parameter("neighbors per topic chosen greedily", least=0)] = 3,
    kr: Annotated[
        int | str, Parameter("neighbors per topic chosen at random; adaptive: as 3.3.1", (ADAPTIVE,), 0)
    ] = 0,
    root: Annotated[
        str, Parameter("agree on a root per topic, so that split topics heal; off: as the paper", ON_OFF)
    ] = "on",
) -> NodeGoals:
    """Cover every topic by kg + kr neighbors."""
    adaptive = isinstance(kr, str)
    return NodeGoals(kg, 0 if isinstance(kr, str) else kr, adaptive=adaptive, root=root == "on")


def similarity(
    similar: Annotated[int, Parameter("links to the nodes with most topics in common", least=0)] = 10,
    random: RandomLinks = 0,
) -> NodeGoals:
    """Link to the most similar nodes, and to some random ones."""
    return NodeGoals(similar, random, by_coverage=False)


def random_links(random: RandomLinks = 10) -> NodeGoals:
    """Link to random nodes."""
    return NodeGoals(0, random, by_coverage=False)
