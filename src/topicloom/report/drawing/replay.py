"""A simulation: every node that had a link, and how the links changed from snapshot to snapshot."""

from __future__ import annotations

import msgspec
import numpy as np

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.graphs.layout import place_nodes
from topicloom.report.drawing.graph import (
    MOST_EDGES,
    MOST_NODES,
    Drawing,
    Graph,
    Moment,
    draw_overlays,
    find_groups,
    pack,
    pack_places,
)
from topicloom.report.sources.subject import SimulationSubject

MOST_CHANGES = 400_000  # of links: more would make the page too large


def draw_simulation(subject: SimulationSubject, *, progress: Progress = SILENT) -> Drawing | None:
    """Return the drawing of the last moment; with the snapshots where their links were kept."""
    interest, overlay = subject.last.interest, subject.last.builds[0].overlay
    if not interest.n_nodes:
        return None
    if subject.links is None or len(subject.links) > MOST_CHANGES:
        drawing = draw_overlays(interest, [("last moment", overlay)], progress=progress)
        return msgspec.structs.replace(drawing, edge_word="link")
    changes = subject.links.to_pylist()
    present = interest.node_ids.to_pylist()
    gone = sorted({end for row in changes for end in (row["u"], row["v"])} - set(present))
    names = present + gone
    if len(names) > MOST_NODES or overlay.n_edges > MOST_EDGES:
        return msgspec.structs.replace(
            draw_overlays(interest, [("last moment", overlay)], progress=progress), edge_word="link"
        )
    place = {name: number for number, name in enumerate(names)}
    # Nodes that are gone are drawn near those they were linked with.
    lost = {
        (place[row["u"]], place[row["v"]])
        for row in changes
        if max(place[row["u"]], place[row["v"]]) >= len(present)
    }
    pairs = sorted(lost | set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True)))
    u, v = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    x, y = pack_places(place_nodes(len(names), u, v, progress=progress))
    starts = np.concatenate((interest.node_ptr, np.full(len(gone), interest.node_ptr[-1])))
    groups = find_groups(len(names), overlay.u, overlay.v)
    last = Graph(name="last moment", u=pack(overlay.u), v=pack(overlay.v), x=x, y=y, groups=pack(groups))
    note = f"{len(gone):,} nodes were gone at the end: what they wanted is not known here." if gone else ""
    return Drawing(
        nodes=names,
        topics=interest.topic_ids.to_pylist(),
        starts=pack(starts),
        wants=pack(interest.node_topics),
        graphs=[last],
        group_title="densely linked nodes",
        edge_word="link",
        note=note,
        moments=_moments(subject, changes, place),
    )


def _moments(
    subject: SimulationSubject, changes: list[dict[str, object]], place: dict[str, int]
) -> list[Moment]:
    by_time: dict[float, tuple[list[int], list[int]]] = {row["time"]: ([], []) for row in subject.snapshots}
    for row in changes:
        ends = sorted((place[str(row["u"])], place[str(row["v"])]))
        by_time.setdefault(float(str(row["time"])), ([], []))[row["change"] == "ended"].extend(ends)
    return [
        Moment(
            time=time,
            added=pack(np.array(added)),
            removed=pack(np.array(removed)),
            split=[topic for topic, _ in subject.split.get(time, [])],
        )
        for time, (added, removed) in sorted(by_time.items())
    ]
