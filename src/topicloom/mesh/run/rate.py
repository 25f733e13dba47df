"""Find the rate at which the queues of brokers drop messages.

Messages are published evenly over all topics for some seconds, then twice as fast, and so on until some are
lost or our own clients cannot publish faster; then between the last two rates. All of it on this machine,
with the clients beside the brokers: the rate compares meshes and settings, and is no promise for others.
"""

from __future__ import annotations

import asyncio
import time
from itertools import cycle

from topicloom.base.summaries import Summary
from topicloom.mesh.run.adapter import MeshClients, Publication
from topicloom.mesh.run.delivery import due_arrivals, plan_publications
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.latency import Latency, measure_latency
from topicloom.mesh.run.running_mesh import RunningMesh

FIRST = 50.0  # messages per second
LASTS = 2.0  # seconds of each rate
TICK = 0.02  # seconds between two shares of messages
LATE = 1.5  # times as long as planned: the clients are what limits it
TURNS = 10  # publishers of a topic that take turns
BETWEEN = 3  # rates tried between the last that held and the first that did not


class RateStep(Summary, frozen=True):
    """One rate that was tried: messages per second as they were published, and what was lost."""

    rate: float
    published: int
    lost: int
    duplicates: int


class FoundRate(Summary, frozen=True, kw_only=True):
    """The highest rate at which nothing was lost, and the lowest at which something was.

    `limit` is `queues`, or `clients` where ours could not publish faster and nothing was lost.
    """

    rate: float
    deliveries: float
    lossy_rate: float | None
    limit: str
    latency: Latency
    steps: tuple[RateStep, ...]


async def find_rate(running: RunningMesh) -> FoundRate:
    """Publish faster and faster until something is lost."""
    steps: list[RateStep] = []
    best: tuple[RateStep, Inbox] | None = None
    lossy: float | None = None
    asked, left, limit = FIRST, BETWEEN, "queues"
    while left:
        step, inbox = await _try(running, asked)
        steps.append(step)
        slow = step.rate < asked / LATE
        if step.lost:
            lossy = step.rate if lossy is None else min(lossy, step.rate)
        elif best is None or step.rate > best[0].rate:
            best = step, inbox
        if slow and not step.lost and lossy is None:
            limit = "clients"
            break
        if lossy is None:
            asked *= 2
            continue
        left -= 1
        below = best[0].rate if best else 0.0
        if below >= lossy:
            break
        asked = (below + lossy) / 2
    rate = best[0].rate if best else 0.0
    inbox = best[1] if best else Inbox(time.monotonic)
    return FoundRate(
        rate=rate,
        deliveries=rate * len(inbox.counts) / max(best[0].published, 1) if best else 0.0,
        lossy_rate=lossy,
        limit=limit,
        latency=measure_latency(running.mesh, inbox.delays),
        steps=tuple(steps),
    )


async def _try(running: RunningMesh, rate: float) -> tuple[RateStep, Inbox]:
    """Publish at this rate for some seconds with clients that are new."""
    inbox = Inbox(time.monotonic)
    clients = await running.connect(inbox.arrived)
    try:
        plan = plan_publications(running.mesh, TURNS)
        count = int(rate * LASTS)
        sent = [
            Publication(one.node, one.topic, number)
            for number, one in zip(range(count), cycle(plan), strict=False)
        ]
        seconds = await _publish(running, clients, inbox, sent, rate)
        check = running.brokers.check_alive
        await inbox.wait(running.settings.quiet, check)
        await inbox.settle(running.settings.settle, check)
    finally:
        await clients.close()
    twice = sum(count - 1 for count in inbox.counts.values())
    return RateStep(len(sent) / seconds, len(sent), inbox.missing, twice), inbox


async def _publish(
    running: RunningMesh, clients: MeshClients, inbox: Inbox, sent: list[Publication], rate: float
) -> float:
    """Hand over all of these in time, several at once; return the seconds that it took."""
    began = time.monotonic()
    under_way: set[asyncio.Task[None]] = set()
    done = 0
    while done < len(sent):
        due = min(int((time.monotonic() - began) * rate) + 1, len(sent))
        share = sent[done:due]
        if share:
            inbox.expect(due_arrivals(running.mesh, share))
            under_way.add(asyncio.create_task(running.publish(clients, share, inbox)))
            done = due
        under_way = {task for task in under_way if not task.done() or task.result()}
        await asyncio.sleep(TICK)
    await asyncio.gather(*under_way)
    return max(time.monotonic() - began, LASTS)
