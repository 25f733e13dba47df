"""What Zenoh routers carried, from their own trace: one line for every message that a router takes up.

The counters of Zenoh's admin space are not in the library from PyPI, so its trace is read, which
`router_process.py` turns on. Its wording is not promised to stay; therefore the reader is never trusted
blindly: every message that a client got must be in the trace of its router too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from topicloom.errors import MeshError
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.adapter import Publication, Stray

Carried = Mapping[str, Mapping[str, int]]  # node -> key -> messages
_LINE = re.compile(r"dispatcher::pubsub: \S+/[0-9a-f]+:\d+ Route data for res (\S+)$")


def count_carried(lines: Iterable[str]) -> Counter[str]:
    """Count the messages of each key in a trace."""
    found = (_LINE.search(line) for line in lines)
    return Counter(one[1] for one in found if one is not None and not one[1].startswith("@/"))


def read_carried(trace: Path) -> Counter[str]:
    """Count the messages of each key in a file; one that is not there yet has none."""
    try:
        with trace.open(encoding="utf-8", errors="replace") as lines:
            return count_carried(line.rstrip("\n") for line in lines)
    except FileNotFoundError:
        return Counter()


def unwanted(mesh: Mesh, carried: Carried) -> list[Stray]:
    """Return the messages that a node's routers carried of topics it does not want."""
    topic_of = {name: topic for topic in mesh.topics for name in topic.names_sent}
    strays = []
    for node, counts in carried.items():
        for name, count in sorted(counts.items()):
            topic = topic_of.get(name)
            if topic is None or node not in topic.subscribers:
                shown = name if topic is None else topic.topic
                strays.append(Stray(node, count, f"carried {count} messages on {shown}"))
    return strays


def judge_trace(
    mesh: Mesh,
    publications: Sequence[Publication],
    arrivals: Mapping[tuple[str, str], int],
    carried: Carried,
) -> list[Stray]:
    """Return the strays that the trace shows; `arrivals` is what our clients got at (node, topic)."""
    due = Counter(one.topic for one in publications)
    strays = unwanted(mesh, carried)
    for topic in mesh.topics:
        for node in topic.subscribers:
            count = sum(carried.get(node, {}).get(name, 0) for name in topic.names_sent)
            got = arrivals.get((node, topic.topic), 0)
            if count < min(got, due[topic.topic]):
                raise MeshError(
                    f"the trace of {node}'s router shows {count} messages on {topic.topic}, but its client "
                    f"got {got}: this version of zenoh cannot be judged for strays"
                )
            # What clients got more than once is told as duplicates; this is what went round without them.
            more = count - max(got, due[topic.topic])
            if more > 0:
                what = f"carried {count} messages on {topic.topic}, {due[topic.topic]} are due"
                strays.append(Stray(node, more, what))
    return strays
