"""What each link of a mesh carries."""

from __future__ import annotations

from collections import Counter

from topicloom.report.figures import Axis, Bar, BarChart, Column, Part, Row, Section, Table
from topicloom.report.sections.words import counted
from topicloom.report.sources.subject import MeshSubject, Subject

MOST_BARS = 20
MOST_ROWS = 400


def make_links(subject: Subject) -> Section | None:
    """Return what each link carries."""
    if not isinstance(subject, MeshSubject):
        return None
    links = sorted(subject.mesh.links, key=lambda link: (-len(link.topics), link.name))
    bars = [
        Bar(label=f"{link.dialer} → {link.acceptor}", parts=[Part("topics", float(len(link.topics)))])
        for link in links[:MOST_BARS]
    ]
    rows = [
        Row(
            [
                link.name,
                link.dialer,
                link.acceptor,
                f"{len(link.topics):,}",
                ", ".join(link.topics[:12]) + (" …" if len(link.topics) > 12 else ""),
                ", ".join(link.backups) or "–",
            ],
            [None, None, None, float(len(link.topics)), None, None],
        )
        for link in links[:MOST_ROWS]
    ]
    titles = ("link", "opened by", "accepted by", "topics", "which topics", "backup at")
    per = Counter(len(link.topics) for link in links)
    most = max(per, default=0)
    return Section(
        title="What links carry",
        lead=f"The busiest link carries {counted(most, 'topic')}.",
        charts=[
            BarChart(
                key="links",
                title="Topics of a link",
                about="All links, those with the most topics first; the arrow shows who opens it."
                if len(bars) == len(links)
                else f"The {len(bars):,} links with the most topics; the arrow shows who opens them.",
                x=Axis(title="topics", whole=True),
                bars=bars,
                names=["topics"],
            )
        ],
        tables=[
            Table(
                key="links-table",
                title="Links",
                columns=[Column(title, number=title == "topics") for title in titles],
                rows=rows,
                note="" if len(links) <= MOST_ROWS else f"{len(links) - MOST_ROWS:,} more are not listed.",
            )
        ],
    )
