"""`topicloom measure`: the figures of an overlay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import asdict

from topicloom.base.summaries import UNSET, Figures, UnsetType
from topicloom.cli.console import Screen
from topicloom.cli.options import (
    Certify,
    EdgeOptions,
    EngineOptions,
    InterestOptions,
    PairCosts,
    Rates,
    RoundTrips,
    Threads,
    in_turn,
)
from topicloom.cli.tables import figures_table
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.overlay.spark.measure_topics import Sampled

EXAMPLES = """
topicloom measure my-overlay my-overlay
topicloom measure table.csv edges.csv --json
topicloom measure my-overlay my-overlay --certify
topicloom measure table.csv edges.csv --rates rates.csv --rtt times.csv
"""


def measure(
    interest: InterestOptions,
    edges: EdgeOptions,
    spark: EngineOptions,
    screen: Screen,
    threads: Threads = None,
    certify: Certify = False,
    rates: Rates = None,
    rtt: RoundTrips = None,
    costs: PairCosts = None,
    survive: Annotated[
        int,
        typer.Option(min=0, max=2, help="With --certify: bounds of overlays that survive so many deaths."),
    ] = 0,
) -> None:
    """Measure degrees, components, diameters, topics per edge, filtering cost and load of an overlay."""
    from topicloom.overlay.jobs.certify import certificate_told
    from topicloom.overlay.jobs.constraints import ConstraintFiles
    from topicloom.overlay.jobs.measure import measure_tables

    interest, edges = in_turn(interest, edges)
    if survive and not certify:
        raise UsageError("--survive sets the bounds of --certify; leave one of them out or give both")
    with screen.working() as progress:
        found = measure_tables(
            interest.ready(spark, screen, progress),
            edges.source(),
            threads=threads,
            bounds=certify,
            survive=survive,
            weights=ConstraintFiles(rates=rates, rtt=rtt, costs=costs, encoding=interest.encoding),
        )
    measures = found.measures
    certificate = certificate_told(found.certificate, measures)
    rows = list(_rows(measures))
    for name, count in asdict(found.left_out).items():
        if count:
            rows.append((f"left out: {name.replace('_', ' ')}", f"{count:,}"))
    reasons = found.unknown or {}
    unknown = [f"not known, because {why}: {', '.join(keys)}" for why, keys in _by_reason(reasons).items()]
    screen.report(found, figures_table(None, rows), *certificate, *unknown, *_sampled(found.sampled))


def _sampled(found: Sampled | UnsetType) -> Iterator[str]:
    """Say which figures are not of all topics."""
    if found is UNSET:
        return
    mean = f"mean diameter {_bounds(found.diameter_topic_avg_bounds)}"
    shown = ", ".join((mean, *found.figures))
    yield f"of a sample of {found.topics:,} of {found.of:,} topics: {shown}"


def _by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, why in reasons.items():
        found.setdefault(why, []).append(key)
    return found


def _rows(found: Figures) -> Iterator[tuple[str, str]]:
    """Give a row for every figure of the registry that has a label."""
    from topicloom.overlay.measures.deliveries import FIGURES
    from topicloom.overlay.measures.registry import MEASURES

    known = [*(figure for entry in MEASURES.values() for figure in entry.figures), *FIGURES]
    for figure in (figure for figure in known if figure.label and figure.key in found):
        unit = found.get(figure.unit, figure.unit)
        value = found[figure.key]
        if value is None:
            yield f"{figure.label} ({unit})" if unit else figure.label, "not known"
            continue
        shown = FORMS[figure.form](value) if figure.form in FORMS else format(value, figure.form)
        yield f"{figure.label} ({unit})" if unit else figure.label, shown


def _bounds(values: Sequence[float | None]) -> str:
    low, high = values
    if low is None:
        return "none: no topic is connected"
    form = ",.2f" if isinstance(low, float) else ","
    if high is None:
        return f"at least {low:{form}}"
    return format(high, form) if low == high else f"between {low:{form}} and {high:{form}}"


FORMS: dict[str, Callable[[Any], str]] = {
    "percentiles": lambda values: " / ".join(f"{values[key]:,.0f}" for key in ("50", "90", "99")),
    "bounds": _bounds,
    "yes/no": lambda value: "yes" if value else "NO",
}
