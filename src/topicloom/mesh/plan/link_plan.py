"""The links of a mesh, planned and checked: a tree for each topic, or forests of classes of topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.plan.request import Request
from topicloom.mesh.topic_trees.backups import with_backups
from topicloom.mesh.topic_trees.check import check_links, check_packing, check_topic_trees
from topicloom.mesh.topic_trees.dialing import forest_links, start_order, tree_links, turn_links
from topicloom.mesh.topic_trees.packing import pack_forests
from topicloom.mesh.topic_trees.shallow import build_shallow_trees
from topicloom.mesh.topic_trees.spanning import build_topic_trees

HOPS, SPREAD = TREES = ("hops", "spread")  # the shortest trees, or those that spread the load


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """Who dials whom, by number; the brokers in the order to start them; the class of each topic."""

    links: Sequence[PlannedLink]
    start_order: Sequence[int]
    class_of: Sequence[int] | None = None


def plan_trees(request: Request) -> LinkPlan:
    """Plan a spanning tree for each topic; the links of all of them together may have cycles."""
    build = build_shallow_trees if request.trees == HOPS else build_topic_trees
    trees = build(request.interest, request.overlay, progress=request.progress)
    _insist(check_topic_trees(request.interest, request.overlay, trees))
    return _planned(request, tree_links(trees, by_direction=request.split > 1))


def plan_forests(request: Request) -> LinkPlan:
    """Plan classes of topics, the links of each class a forest."""
    packing = pack_forests(request.interest, request.overlay, progress=request.progress)
    _insist(check_packing(request.interest, request.overlay, packing))
    return _planned(request, forest_links(packing), packing.class_of.tolist())


def _planned(request: Request, links: list[PlannedLink], class_of: list[int] | None = None) -> LinkPlan:
    """Add the backups that are asked for, and the order to start in."""
    if request.backups:
        request.progress.phase("find backups")
        links = with_backups(
            request.interest,
            links,
            classes=class_of is not None,
            most=request.backups,
            split=request.split,
            progress=request.progress,
        )
    if class_of is None:  # the links of a class all lead to its root
        links = turn_links(links)
    return LinkPlan(links, start_order(request.interest.n_nodes, links), class_of)


def check_mesh(request: Request, mesh: Mesh) -> None:
    """Prove what is about to be written, from its names: trees or forests, all connected, backups safe."""
    node = {name: number for number, name in enumerate(request.interest.node_ids.to_pylist())}
    topic = {name: number for number, name in enumerate(request.interest.topic_ids.to_pylist())}
    account = {name: number for number, name in enumerate(mesh.accounts)}
    links = [
        PlannedLink(
            dialer=node[link.dialer],
            acceptor=node[link.acceptor],
            topics=tuple(topic[name] for name in link.topics),
            topic_class=-1 if link.account is None else account[link.account],
            backups=tuple(node[name] for name in link.backups),
        )
        for link in mesh.links
    ]
    _insist(check_links(request.interest, links, classes=bool(mesh.accounts)))
    wanted = {one.topic: one.account for one in mesh.topics}
    strays = [
        (link.name, name) for link in mesh.links for name in link.topics if wanted[name] != link.account
    ]
    _insist([f"link {link} carries topic {name!r} of another account" for link, name in strays])


def _insist(faults: Sequence[str]) -> None:
    """Raise the first fault: a mesh that a checker refuses is our fault, not the user's."""
    if faults:
        raise AssertionError(f"the planned mesh does not hold: {faults[0]}")
