"""`topicloom inspect`: what an interest table looks like, and what that means for an overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.cli.console import Screen, table
from topicloom.cli.options import EngineOptions, InterestOptions, Threads
from topicloom.cli.tables import figures_table

if TYPE_CHECKING:
    from topicloom.overlay.jobs.measure import Inspected

EXAMPLES = """
topicloom inspect table.csv
topicloom inspect table.tsv.gz --no-header --json
topicloom inspect --table sales.public.wants --node-column customer --topic-column channel
topicloom inspect --input-format jdbc --option url=jdbc:postgresql://host/db --option dbtable=wants \\
    --spark-conf spark.jars=postgresql.jar
"""


def inspect(interest: InterestOptions, spark: EngineOptions, screen: Screen, threads: Threads = None) -> None:
    """Tell what is in an interest table: sizes, popularity, correlation, and which builder fits."""
    from topicloom.overlay.jobs.measure import inspect_table

    with screen.working() as progress:
        found = inspect_table(interest.ready(spark, screen, progress), threads=threads)
    profile = found.profile
    top = [[row.topic, f"{row.subscribers:,}", f"{row.share:.1%}"] for row in profile.top_topics]
    screen.report(
        found,
        figures_table(None, _figures(found)),
        table("most wanted topics", [("topic", "left"), ("nodes", "right"), ("share", "right")], top),
        *(f"• {line}" for line in profile.advice),
    )


def _figures(found: Inspected) -> list[tuple[str, str]]:
    profile, size, alike = found.profile, found.profile.subscription_size, found.profile.alike
    components = "not known" if profile.components is None else f"{profile.components:,}"
    sampled = "" if alike.intersection_exact else f", sample of {alike.intersection_nodes:,} nodes"
    return [
        ("nodes", f"{profile.nodes:,}"),
        ("topics", f"{profile.topics:,}"),
        ("subscriptions", f"{profile.subscriptions:,}"),
        ("duplicate rows", f"{found.duplicates:,}"),
        ("refused rows", f"{found.rejected:,}"),
        (
            "names that differ from another in writing only",
            f"{found.names_alike.nodes + found.names_alike.topics:,}",
        ),
        (
            "topics per node: min / average / median / max",
            f"{size.min} / {size.avg:.1f} / {size.median:g} / {size.max}",
        ),
        ("topics with one subscriber", f"{profile.topics_single:,}"),
        ("components (no topic is shared between them)", components),
        ("nodes with exactly the topics of another", f"{profile.identical_share:.0%}"),
        (f"top-{alike.intersection_d} intersection{sampled}", f"{alike.intersection:.0f}%"),
    ]
