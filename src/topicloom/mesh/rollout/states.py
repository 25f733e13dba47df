"""The states between two meshes, and the proof that none of them holds a loop.

While brokers are restarted one by one, each has the files of its own step. A link is made by the file of its
dialer, so a state is known by the step of every node. Proved here by plain search in each state: along the
order that the plan gives, and in random orders. (That it holds in every order follows from how phases.py
makes the middle: it proves all states at once.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from topicloom.base.seeds import generator
from topicloom.mesh.model.mesh import Mesh, MeshLink

RANDOM_ORDERS = 20
Steps = Mapping[str, Mesh]  # the mesh whose file each node has


def links_of(steps: Steps) -> list[MeshLink]:
    """Return the links that brokers with these files make."""
    return [
        link
        for node, mesh in steps.items()
        for link in mesh.links
        if link.dialer == node and link.acceptor in steps
    ]


def states_along(before: Mesh, after: Mesh, order: Sequence[str]) -> Iterator[dict[str, Mesh]]:
    """Yield every state while the nodes of `order` get the files of `after` one after the other."""
    steps = {node.name: before for node in before.nodes}
    there = {node.name for node in after.nodes}
    yield dict(steps)
    for node in order:
        if node in there:
            steps[node] = after
        else:
            steps.pop(node, None)
        yield dict(steps)


def loops_in(links: Sequence[MeshLink]) -> list[str]:
    """Return a sentence for each topic, or account, whose links hold a loop, backups and all."""
    units: dict[str, list[MeshLink]] = {}
    for link in links:
        names = (f"account {link.account}",) if link.account else [f"topic {name!r}" for name in link.topics]
        for name in names:
            units.setdefault(name, []).append(link)
    return [fault for name, own in units.items() for fault in _loop(name, own)]


def _loop(name: str, links: Sequence[MeshLink]) -> Iterator[str]:
    """Take away, as long as there are any, links at whose one end nothing else can be; what is left loops.

    With backups a link may be anywhere among its ends. A node without any arrow of its own that moves, and
    with at most one link, ends no loop.
    """
    left = [{link.dialer: True, **dict.fromkeys((link.acceptor, *link.backups), False)} for link in links]
    while True:
        met: dict[str, int] = {}
        for ends in left:
            for end in ends:
                met[end] = met.get(end, 0) + 1
        kept = [
            ends
            for ends in left
            # The dialer is at the link whatever it chooses: alone there, the link is a dead end. So it is if
            # all but one of the ends it may choose, and then also the last, are at no other link.
            if met[next(iter(ends))] > 1 and any(met[end] > 1 for end in list(ends)[1:])
        ]
        if len(kept) == len(left):
            break
        left = kept
    if left:
        yield f"{name}: links of {', '.join(sorted({end for ends in left for end in ends}))} may hold a loop"


def check_rollout(
    phases: Sequence[Mesh],
    orders: Sequence[Sequence[str]],
    *,
    seed: int = 0,
    random_orders: int = RANDOM_ORDERS,
) -> tuple[int, list[str]]:
    """Check all states along the orders from mesh to mesh, and as many random orders; (states, loops)."""
    states, found = 0, list[str]()
    for number, ((before, after), order) in enumerate(zip(pairwise(phases), orders, strict=True)):
        shuffled = [
            [order[at] for at in generator(seed, "orders", f"{number}-{turn}").permutation(len(order))]
            for turn in range(random_orders if order else 0)
        ]
        for own in (order, *shuffled):
            for steps in states_along(before, after, own):
                states += 1
                found += loops_in(links_of(steps))
    return states, list(dict.fromkeys(found))
