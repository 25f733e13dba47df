"""The headline of a simulation."""

from __future__ import annotations

from typing import Any

from topicloom.report.figures import Figure, Section
from topicloom.report.sections.words import counted, decimal
from topicloom.report.sources.subject import SimulationSubject, Subject


def make_course(subject: Subject) -> Section | None:
    """Return the course of a simulation."""
    if not isinstance(subject, SimulationSubject):
        return None
    rows, summary = subject.snapshots, subject.summary
    last = rows[-1]
    split = sum(row["topics_partitioned"] > 0 for row in rows)
    lead = (
        f"{summary.protocol} ran for {decimal(summary.simulated_seconds, 1)} simulated seconds "
        f"on {counted(summary.nodes, 'node')}."
    )
    return Section(
        title="At a glance",
        lead=lead,
        figures=[
            Figure(
                "average degree",
                decimal(last["degree_avg"]),
                f"At the end a node keeps {decimal(last['degree_avg'])} links on average, "
                f"at most {last['degree_max']:,}.",
            ),
            Figure(
                "topics split",
                f"{last['topics_partitioned']:,}",
                "At the end every topic is connected."
                if not last["topics_partitioned"]
                else "At the end some subscribers do not reach each other.",
                "bad" if last["topics_partitioned"] else "good",
            ),
            Figure(
                "snapshots with a split",
                f"{split:,} / {len(rows):,}",
                "How often a look at the overlay found a topic that was not connected.",
            ),
            Figure(
                "messages per node",
                decimal(last["control_messages"] / max(summary.nodes, 1), 1),
                "What a node sent in all to find and keep its links, heartbeats left out.",
            ),
            *_deliveries(last),
        ],
    )


def _deliveries(last: dict[str, Any]) -> list[Figure]:
    if not last.get("published"):
        return []
    share = 1 - last["missing"] / max(last["expected"], 1)
    return [
        Figure(
            "delivered",
            f"{100 * share:.2f}%",
            f"of {last['expected']:,} deliveries that were due; {last['duplicates']:,} copies came again and "
            "were dropped.",
            "good" if not last["missing"] else "",
        )
    ]
