"""A small graph as lines of text: a tree of shortest paths from its busiest node, other edges in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from topicloom.base.arrays import Ints, neighbor_lists

MOST = 40  # nodes that are drawn: more would be no small picture


def sketch(
    names: Sequence[str],
    u: Ints,
    v: Ints,
    *,
    marked: Collection[int] = (),
    edge: tuple[int, int] | None = None,
    most: int = MOST,
) -> list[str]:
    """Return the lines; `marked` nodes have a star, the `edge` is drawn double.

    >>> import numpy as np
    >>> print("\\n".join(sketch(["a", "b", "c", "d"], np.array([0, 0, 1]), np.array([1, 2, 2]), marked=[0])))
    a *
    ├─ b, also linked to c
    └─ c
    d
    """
    n = len(names)
    ptr, nbr = neighbor_lists(u, v, n)
    near = [sorted(nbr[ptr[node] : ptr[node + 1]].tolist()) for node in range(n)]
    lines: list[str] = []
    seen: dict[int, int] = {}  # node: its parent in the tree
    for root in sorted(range(n), key=lambda node: (-len(near[node]), node)):
        if root in seen:
            continue
        below = _tree(root, near, seen)
        stack = [(root, "", "")]
        while stack:
            node, indent, branch = stack.pop()
            if len(lines) < most:
                lines.append(_line(names, node, near, seen, indent + branch, marked, edge))
            inner = indent + ("" if not branch else "   " if branch[0] == "└" else "│  ")
            children = below.get(node, [])
            for child in reversed(children):
                double = edge is not None and {node, child} == set(edge)
                last = child == children[-1]
                stack.append((child, inner, ("└" if last else "├") + ("═ " if double else "─ ")))
    return lines + ([f"... and {n - most:,} more"] if n > most else [])


def _tree(root: int, near: list[list[int]], seen: dict[int, int]) -> dict[int, list[int]]:
    """Return the children of each node in a tree of shortest paths from the root."""
    below: dict[int, list[int]] = {}
    seen[root], front = -1, [root]
    while front:
        reached = []
        for node in front:
            for other in near[node]:
                if other not in seen:
                    seen[other] = node
                    below.setdefault(node, []).append(other)
                    reached.append(other)
        front = reached
    return below


def _line(
    names: Sequence[str],
    node: int,
    near: list[list[int]],
    parents: dict[int, int],
    before: str,
    marked: Collection[int],
    edge: tuple[int, int] | None,
) -> str:
    """Return the line of a node: each edge that is not of the tree is told at its first end."""
    others = [
        names[one] + (" (that edge)" if edge is not None and {node, one} == set(edge) else "")
        for one in near[node]
        if one > node and parents[one] != node and parents[node] != one
    ]
    also = f", also linked to {', '.join(others)}" if others else ""
    return f"{before}{names[node]}{' *' if node in marked else ''}{also}"
