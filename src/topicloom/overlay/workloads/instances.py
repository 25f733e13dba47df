"""Instances with a known answer, built as the papers describe them."""

from __future__ import annotations

from itertools import product

from topicloom.overlay.model.interest import Interest


def lemma_6_6(k: int, m: int) -> Interest:
    """The instance of [Chockler2007a, Lemma 6.6] (m > 2): GM takes 2k + km edges where 2k + 2m are enough.

    Topics fill a cuboid 2 x (2^k - 1) x m. `stwo` nodes want one of the 2 planes each, `sm` nodes one of
    the m planes each; `sk` node i wants the i-th block of 2^(i-1) columns, in both planes, all m deep.
    """
    pairs = []
    for plane, column, depth in product((1, 2), range(1, 2**k), range(1, m + 1)):
        topic = f"t{plane}-{column:04d}-{depth:04d}"
        block = column.bit_length()  # columns 1 | 2 3 | 4 5 6 7 | ...: blocks of 1, 2, 4, ... columns
        pairs += [(f"stwo{plane}", topic), (f"sk{block:04d}", topic), (f"sm{depth:04d}", topic)]
    return Interest.from_pairs(pairs)


def lemma_8(h: int) -> Interest:
    """The instance of [Chen2010, Lemma 8]: m = 2^h topics, nodes v(i, j) wanting the j-th block of m / 2^i.

    The best overlay is the binary tree of the blocks, of maximum degree 3. A group that holds v(0, 0) and
    the nodes of one topic only must link it to every one of them.
    """
    m = 2**h
    return Interest.from_pairs(
        (f"v{i:02}-{j:04}", f"t{topic:04}")
        for i in range(h + 1)
        for j in range(2**i)
        for topic in range(j * m // 2**i, (j + 1) * m // 2**i)
    )


def onus_lemma_1(n: int) -> Interest:
    """[Onus2016, Lemma 1]: node 1 wants all n x n topics, node i row i and column i; a star is best."""
    pairs = [("v001", f"t{i:03}-{j:03}") for i in range(1, n + 1) for j in range(1, n + 1)]
    for i, j in product(range(2, n + 1), range(1, n + 1)):
        pairs += [(f"v{i:03}", f"t{i:03}-{j:03}"), (f"v{i:03}", f"t{j:03}-{i:03}")]
    return Interest.from_pairs(pairs)


def onus_lemma_5(n: int) -> Interest:
    """[Onus2016, Lemma 5, Figure 5]: node i wants topics 1 to i; a star around node n is best."""
    return Interest.from_pairs(
        (f"v{i:03}", f"t{topic:03}") for i in range(1, n + 1) for topic in range(1, i + 1)
    )


def onus_lemma_6(n: int) -> Interest:
    """[Onus2016, Lemma 6, Figure 6]: as in Lemma 5; v_i and u_i also share n^3 (n - i + 1) topics."""
    pairs = [(f"v{i:03}", f"t{topic:03}") for i in range(1, n + 1) for topic in range(1, i + 1)]
    for i in range(1, n + 1):
        own = [f"s{i:03}-{topic:06}" for topic in range(n**3 * (n - i + 1))]
        pairs += [(f"{kind}{i:03}", topic) for topic in own for kind in "uv"]
    return Interest.from_pairs(pairs)


def case_vii(n: int) -> Interest:
    """[Onus2016, Case VII] (figure 7), n nodes: n edges are best."""
    many = [f"x{i:03}" for i in range(1, n + 1)]
    pairs = [(node, topic) for node in ("v1", "v2") for topic in many] + [("v1", "z"), ("w", "z")]
    pairs += [(f"u{i:03}", topic) for i in range(1, n - 2) for topic in ("x001", "y")]
    return Interest.from_pairs(pairs)
