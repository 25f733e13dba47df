"""How many groups the light nodes are dealt out to: the p of paper 000, section V."""

from __future__ import annotations

from topicloom.builders.divide import count_groups, divide_nodes
from topicloom.builders.rep_set import choose_representatives, topics_elsewhere
from topicloom.builders.split import Split
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Progress, check_stop

FINE = 16
"""The search ends when p is known to one part in so many: the cost is flat around its minimum."""


def choose_group_count(
    interest: Interest,
    split: Split,
    p: int | str,
    *,
    kernel_nodes: int,
    lambda_: int = 3,
    seed: int = 0,
    progress: Progress = SILENT,
) -> int:
    """`"auto"`: the fewest groups of at most `kernel_nodes`; `"paper"`: the cheapest; else p itself.

    Never more groups than light nodes.
    """
    n_light = len(split.light)
    if not isinstance(p, str):
        return min(int(p), n_light)
    fewest = count_groups(n_light, kernel_nodes)
    if p == "auto" or n_light == 0:
        return fewest
    return _Search(interest, split, lambda_, seed, progress).cheapest(fewest)


class _Search:
    """Looks for the p of least cost |T| ((|B| + |R|)^2 + |L|^2 / p), the running time of the two greedy
    phases by Lemma 7, computing representatives only."""

    def __init__(self, interest: Interest, split: Split, lambda_: int, seed: int, progress: Progress) -> None:
        self.interest, self.split = interest, split
        self.lambda_, self.seed = lambda_, seed
        self.progress = progress
        self.costs: dict[int, float] = {}

    def cheapest(self, fewest: int) -> int:
        """Double p until the outer phase alone costs more than the best so far, then close in."""
        n_light, best, p = len(self.split.light), fewest, fewest
        while p <= n_light:
            if self.cost(p) < self.cost(best):
                best = p
            if self.cost(p) - self._inner_cost(p) > self.cost(best):
                break  # more groups have more representatives
            p *= 2
        step = best // 2
        while step > 0 and step * FINE >= best:
            for p in (best - step, best + step):
                if fewest <= p <= n_light and self.cost(p) < self.cost(best):
                    best = p
            step //= 2
        return best

    def cost(self, p: int) -> float:
        """The cost of p without its constant factor |T|."""
        if p not in self.costs:
            n_outer = len(self.split.bulk) + self._representatives(p)
            self.costs[p] = float(n_outer**2) + self._inner_cost(p)
        return self.costs[p]

    def _inner_cost(self, p: int) -> float:
        return len(self.split.light) ** 2 / p

    def _representatives(self, p: int) -> int:
        total = 0
        sizes = self.interest.topic_sizes()
        for group in divide_nodes(self.interest, self.split.light, p, self.seed):
            check_stop(self.progress)
            wanted = topics_elsewhere(group, sizes)
            total += len(choose_representatives(group, lambda_=self.lambda_, wanted=wanted))
        return total
