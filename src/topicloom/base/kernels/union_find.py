"""The one union-find of all kernels; the judge has its own (judge_union_find.py), so that it shares nothing.

`parent` holds 0, 1, 2, ... at first; the number at which a walk up ends names the set.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import part


@part
def root(parent: Any, i: Any) -> Any:
    """The name of i's set; the walk up halves the path."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@part
def unite(parent: Any, a: Any, b: Any) -> bool:
    """Make the sets of a and b one, under the name of b's; False if they were."""
    a, b = root(parent, a), root(parent, b)
    parent[a] = b
    return a != b
