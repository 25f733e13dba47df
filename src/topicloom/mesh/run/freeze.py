"""Freeze one broker of a running mesh: when do its neighbors notice, and is all well when it goes on?

A killed process closes its connections, and the kernel tells the other ends. A frozen one, or a machine that
lost its power or its network, says nothing: only keep-alives and pings without an answer tell. A neighbor has
noticed when it has closed every connection that it had with the node.
"""

from __future__ import annotations

import asyncio
import time

from topicloom.base.summaries import Summary
from topicloom.mesh.run.resource_usage import Pair, ends_at, open_pairs
from topicloom.mesh.run.running_mesh import CALM, RunningMesh

LONGEST = 30.0  # seconds until a neighbor counts as one that never notices
WITHIN = 12.0  # seconds that a neighbor may take
LOOK = 0.1


class NodeFreeze(Summary, frozen=True, kw_only=True):
    """One frozen broker, as `run --json` prints it: its neighbors, and those that noticed in time.

    `seconds_max` is None if a neighbor did not notice at all. `seconds_back` passed from the moment the node
    went on until all links were in place; `exact_again` tells of the proof after that.
    """

    node: str
    neighbors: int
    noticed: int
    seconds_max: float | None
    seconds_back: float
    exact_again: bool

    @property
    def held(self) -> bool:
        return self.exact_again and self.noticed == self.neighbors


async def freeze(running: RunningMesh, node: str) -> NodeFreeze:
    """Freeze the broker of `node`, watch its neighbors, let it go on, and prove the mesh again."""
    pids = running.brokers.pids()
    before = open_pairs(pids, node)
    running.brokers.freeze(node)
    began = time.monotonic()
    try:
        took = await _watch(running, node, before, began)
    finally:
        running.brokers.thaw(node)
    back = time.monotonic()
    await _wait_awake(running, node, set[Pair]().union(*before.values()))
    await running.wait_in_place()
    seconds_back = time.monotonic() - back
    again = await running.prove_again()
    return NodeFreeze(
        node=node,
        neighbors=len(before),
        noticed=sum(seconds <= WITHIN for seconds in took.values()),
        seconds_max=None if len(took) < len(before) else max(took.values(), default=0.0),
        seconds_back=seconds_back,
        exact_again=again.verdict.exact,
    )


async def _watch(
    running: RunningMesh, node: str, before: dict[str, set[Pair]], began: float
) -> dict[str, float]:
    """Return the seconds after which each neighbor had closed all connections that it had with the node."""
    took: dict[str, float] = {}
    while len(took) < len(before) and time.monotonic() - began < LONGEST:
        await asyncio.sleep(LOOK)
        running.brokers.check_alive()
        now = open_pairs(running.brokers.pids(), node)
        for neighbor, pairs in before.items():
            if neighbor not in took and not pairs & now.get(neighbor, set()):
                took[neighbor] = time.monotonic() - began
    return took


async def _wait_awake(running: RunningMesh, node: str, old: set[Pair]) -> None:
    """Wait until a broker that goes on has put away all connections that died while it was frozen.

    Until then it says that its old links are up, and clients of its neighbors wait in its queue.
    """
    began = steady = time.monotonic()
    last: set[Pair] = set()
    while steady - began < LONGEST:
        await asyncio.sleep(LOOK)
        held, dead = ends_at(running.brokers.pids(), node)
        now = time.monotonic()
        if dead or held & old or held != last:
            steady, last = now, held
        elif now - steady > CALM:
            return
