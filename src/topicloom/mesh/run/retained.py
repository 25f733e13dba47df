"""What brokers retain: of a topic with one publisher every broker must have the last value.

Of a topic with several publishers nobody can say which value is the last, and a link that comes back may swap
two of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from topicloom.base.summaries import Summary
from topicloom.mesh.run.adapter import MeshClients, Publication
from topicloom.mesh.run.running_mesh import RunningMesh

AGAIN = 10.0  # seconds until what brokers retain must be right
PAUSE = 0.2  # seconds between two looks
Kept = dict[tuple[str, str], int]  # of each node and topic: the message that the broker must retain


class RetainedProof(Summary, frozen=True, kw_only=True):
    """How many values brokers had to retain, and how many were missing or others."""

    values: int
    wrong: int


async def prove_retained(running: RunningMesh, clients: MeshClients, first: int) -> RetainedProof | None:
    """Publish a value to keep on each topic of one publisher and ask all brokers; None if none retains any.

    Messages have the numbers from `first` on.
    """
    if not running.adapter.retains:
        return None
    numbers = iter(range(first, first + len(running.mesh.topics)))
    kept = await retain_values(running, clients, lambda: next(numbers))
    return RetainedProof(values=len(kept), wrong=await count_wrong(running, kept))


async def retain_values(running: RunningMesh, clients: MeshClients, number: Callable[[], int]) -> Kept:
    """Publish a value to keep on each topic of one publisher; return what each broker must keep."""
    if not running.adapter.retains:
        return {}
    kept: Kept = {}
    for topic in running.mesh.topics:
        if len(topic.senders) == 1:
            message = number()  # before anything waits: others publish meanwhile
            kept |= {(node, topic.topic): message for node in topic.hearers}
            await clients.retain(Publication(topic.senders[0], topic.topic, message))
    return kept


async def count_wrong(running: RunningMesh, kept: Kept) -> int:
    """Count the brokers that do not retain what they must, once that does not get better any more."""
    end = time.monotonic() + AGAIN
    wrong = len(kept)
    while kept:
        found = await running.adapter.read_retained(running.mesh)
        wrong = sum(found.get(place) != message for place, message in kept.items())
        if not wrong or time.monotonic() > end:
            break
        running.brokers.check_alive()
        await asyncio.sleep(PAUSE)
    return wrong
