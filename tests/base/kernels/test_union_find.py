"""Union-find: the sets are those of the pairs, the name of a set is as promised."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parts import called
from topicloom.base.kernels import union_find

root, unite = called(union_find.root), called(union_find.unite)

PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30)


@given(PAIRS)
def test_sets_are_those_of_the_pairs_and_keep_the_second_name(pairs):
    parent = np.arange(12, dtype=np.int32)
    sets = [{i} for i in range(12)]
    for a, b in pairs:
        name, new = root(parent, b), sets[a] is not sets[b]
        assert unite(parent, a, b) == new
        assert root(parent, a) == root(parent, b) == name
        if new:
            sets[b] |= sets[a]
            for i in sets[a]:
                sets[i] = sets[b]
    for i in range(12):
        assert {j for j in range(12) if root(parent, j) == root(parent, i)} == sets[i]
