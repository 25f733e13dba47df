"""The links of one account as arrows, from each node to the one that it dials, and what each link carries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator


class AccountTrees:
    """The arrows of one account, and the topics on each."""

    def __init__(self) -> None:
        self.up: dict[str, str] = {}
        self.topics: dict[str, set[str]] = {}  # by the dialing end of a link
        self.loose: set[str] = set()  # who dropped a link and dials no other one instead

    def path(self, node: str) -> list[str]:
        """Return the nodes from here to the root of the tree."""
        found = [node]
        while found[-1] in self.up:
            found.append(self.up[found[-1]])
        return found

    def join(self, one: str, other: str) -> None:
        """Link two trees by a link that `one` dials; its tree is turned around."""
        for below, above in reversed(list(itertools.pairwise(self.path(one)))):
            self.up[above] = below
            self.topics[above] = self.topics.pop(below)
            del self.up[below]
        self.up[one], self.topics[one] = other, set()
        self.loose.discard(one)

    def copy(self) -> AccountTrees:
        other = AccountTrees()
        other.up, other.topics = dict(self.up), {node: set(own) for node, own in self.topics.items()}
        other.loose = set(self.loose)
        return other

    def between(self, one: str, other: str) -> list[str] | None:
        """Return the dialers of the links between two nodes; None if nothing joins them."""
        first, second = self.path(one), self.path(other)
        if first[-1] != second[-1]:
            return None
        while len(first) > 1 and len(second) > 1 and first[-2] == second[-2]:
            first.pop(), second.pop()
        return first[:-1] + second[:-1]

    def drop(self, dialer: str) -> None:
        del self.up[dialer], self.topics[dialer]
        self.loose.add(dialer)

    def inside(self, wanting: set[str]) -> Iterator[tuple[str, str]]:
        """Yield the links (dialer, acceptor) between these nodes."""
        return ((node, self.up[node]) for node in wanting if self.up.get(node) in wanting)
