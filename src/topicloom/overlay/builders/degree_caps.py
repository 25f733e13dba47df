"""How many edges each node may have while a local search works under one cap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.overlay.builders.constrained import Edges

SPARE = 4  # a cap may rise by so much


@dataclass(frozen=True, slots=True, eq=False)
class DegreeCaps:
    """What holds a node's degree from both sides, whatever the cap of the builder.

    A node never has more edges than `most`: what it has at the start, or a few more than the cap that the
    search starts with. Its fixed edges stay (`least`), where it `needs` more than a cap that is its cap, and
    `given` are the caps of the user's constraints.
    """

    least: Ints
    needs: Ints
    most: Ints
    given: Ints | None

    @classmethod
    def of(
        cls, n_nodes: int, edges: Edges, n_fixed: int, *, cap: int, needs: Ints | None, given: Ints | None
    ) -> DegreeCaps:
        """Return the limits for edges of which the first `n_fixed` stay for good."""
        u, v = edges
        degree = np.bincount(np.concatenate((u, v)), minlength=n_nodes)
        fixed = np.bincount(np.concatenate((u[:n_fixed], v[:n_fixed])), minlength=n_nodes)
        least = fixed.astype(np.int32)
        needed = np.zeros_like(least) if needs is None else needs
        most = np.maximum(np.maximum(degree, cap), needed).astype(np.int32) + SPARE
        return cls(least, needed, most, given)

    def under(self, cap: int) -> Ints:
        """Return how many edges each node may have when the builder allows `cap`."""
        caps = np.maximum(self.needs, np.int32(cap))
        if self.given is not None:
            caps = np.minimum(caps, self.given)
        return np.minimum(np.maximum(caps, self.least), self.most)
