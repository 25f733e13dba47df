"""What an overlay must respect besides topic-connectivity: caps, forbidden and required pairs, costs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topicloom.model.arrays import freeze_fields

Ints = NDArray[np.int32]
NO_CAP = 2**30


def _no_ints() -> Ints:
    return np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Unordered pairs of node numbers: u < v, sorted, distinct."""

    u: Ints = field(default_factory=_no_ints)
    v: Ints = field(default_factory=_no_ints)

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __len__(self) -> int:
        return len(self.u)


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Limits on the choice of edges, by node number; nothing is limited by default.

    `caps[v]` is the most edges node v may have (`NO_CAP`: any number), None when no node has a cap.
    `forbidden` pairs get no edge, `required` pairs get one. `costs[i]` is what an edge on the i-th pair of
    `priced` costs; every other pair costs 1.
    """

    caps: Ints | None = None
    forbidden: Pairs = field(default_factory=Pairs)
    required: Pairs = field(default_factory=Pairs)
    priced: Pairs = field(default_factory=Pairs)
    costs: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        freeze_fields(self)

    def kinds(self) -> tuple[str, ...]:
        """The names of the limits in use, as the command line's options call them."""
        used = {
            "caps": self.caps is not None,
            "forbid": len(self.forbidden) > 0,
            "require": len(self.required) > 0,
            "costs": len(self.priced) > 0,
        }
        return tuple(name for name, present in used.items() if present)


UNCONSTRAINED = Constraints()
