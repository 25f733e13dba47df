"""Low-ODA and MinMax-ODA step by step, as [Onus2016] words them: slow, obvious, plain Python."""

from __future__ import annotations

from itertools import combinations

from naive.greedy import State, Step
from topicloom.overlay.model.interest import Interest


def naive_low_oda(interest: Interest, k: int = 3, strict: bool = False) -> list[Step]:
    """[Onus2016, Algorithm 1]: e1 keeps the maximum degree, e2 is free; e1 if k w(e1) >= w(e2) (strict: >).

    Where no pair of positive weight keeps the maximum degree, e2 is taken.
    """
    state, chosen = State(interest), []
    while (e2 := state.best()) is not None:
        e1 = state.best(below=max(state.degree))
        step = e2
        if e1 is not None and (k * e1[2] > e2[2] if strict else k * e1[2] >= e2[2]):
            step = e1
        state.add(*step[:2])
        chosen.append(step)
    return chosen


def naive_minmax_oda(interest: Interest) -> list[Step]:
    """[Onus2016, 1.1]: of the pairs that raise the maximum degree least, one of largest contribution, even 0.

    Ties as for GM; among pairs that contribute nothing those that share a topic come first, whatever twins.
    """
    state, chosen = State(interest), []

    def key(step: Step) -> tuple[int, bool, int, int, int]:
        strangers = not state.topics[step[0]] & state.topics[step[1]]
        twins, *rest = state.tie_key(step[:2])
        return (-step[2], twins if step[2] else strangers, *rest)

    while state.candidates():
        free = [pair for pair in combinations(state.nodes, 2) if pair not in state.taken]
        top = max(state.degree)
        free = [p for p in free if max(state.degree[p[0]], state.degree[p[1]]) < top] or free
        step = min(((u, v, state.contribution(u, v)) for u, v in free), key=key)
        state.add(*step[:2])
        chosen.append(step)
    return chosen
