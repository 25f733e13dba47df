"""`topicloom content traffic`: turn a publication log and subscriptions into channels, rates and wants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from topicloom.base.counts import counted
from topicloom.cli.console import Screen
from topicloom.cli.options import EngineOptions
from topicloom.cli.spark_tables import named_table
from topicloom.content.jobs.traffic import DEFAULT_CHANNELS, TrafficTask, make_traffic
from topicloom.content.jobs.traffic_folder import TrafficSummary
from topicloom.content.traffic.price_files import PriceFiles
from topicloom.errors import UsageError
from topicloom.tables.folder import REJECTS

if TYPE_CHECKING:
    from topicloom.tables.origins import Origin

EXAMPLES = """
topicloom content traffic --log log.parquet --subscriptions subs.csv --out problem
topicloom content traffic --log log.csv --subscriptions subs.csv --out problem --channels exact
topicloom content traffic --log log.csv --subscriptions subs.csv --out problem --brokers brokers.csv
      --regions regions.csv --region-prices prices.csv
topicloom content traffic --log-table shop.messages --subscriptions subs.csv --out problem
"""


@dataclass(frozen=True, slots=True)
class PriceOptions(PriceFiles):
    """Where brokers and prices come from, if they are to be written too."""

    PANEL: ClassVar[str] = "Brokers and prices (tables with named columns, table:NAME or sql:QUERY of Spark)"

    brokers: Annotated[str | None, "Columns broker, capacity."] = None
    access: Annotated[str | None, "Columns user, broker, price."] = None
    core: Annotated[str | None, "Columns a, b, price: between brokers."] = None
    coordinates: Annotated[str | None, "Columns kind (user or broker), id, x, y: prices are distances."] = (
        None
    )
    regions: Annotated[str | None, "Columns kind (user or broker), id, region: prices by region."] = None
    region_prices: Annotated[str | None, "Columns a, b, price: between and within regions."] = None


@dataclass(frozen=True, slots=True)
class LogOptions:
    """A log that is no file."""

    PANEL: ClassVar[str] = "Log"

    log: Annotated[
        str,
        "Messages: columns publisher, time (seconds or ISO 8601) and a column of numbers for each "
        "attribute; CSV, TSV, JSON lines or Parquet, a file or a folder of files.",
    ] = ""
    log_table: Annotated[str | None, "A table of Spark's catalog instead.", "NAME"] = None
    log_sql: Annotated[str | None, "The result of a query of Spark instead.", "QUERY"] = None
    log_input_format: Annotated[str | None, "A format that Spark reads by itself.", "FORMAT"] = None
    log_option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option for that format or table.")
    ] = None

    def origin(self) -> Origin | None:
        """Return the log, where Spark finds it by itself."""
        named = self.log_table, self.log_sql, self.log_input_format, self.log_option
        found = named_table(self.log, "--log", *named, {}, prefix="log_")
        if found is None and not self.log:
            raise UsageError("--log is missing; name a table of messages")
        return found


def traffic(
    subscriptions: Annotated[
        str,
        "What users want: columns user, subscription, attribute, low, high. A range is low <= value "
        "< high; rows of one subscription are joined by and, subscriptions of a user by or.",
    ],
    out: Annotated[Path, "Folder of the content problem; prices in it stay."],
    log: LogOptions,
    prices: PriceOptions,
    spark: EngineOptions,
    screen: Screen,
    channels: Annotated[
        str,
        "At most so many channels, merged with the least false traffic; exact: all (one attribute).",
        "N|exact",
    ] = str(DEFAULT_CHANNELS),
    strict: Annotated[bool, "Any refused row is an error (exit 2)."] = False,
) -> None:
    """Turn a publication log and range subscriptions into the rates, wants and channels of a content problem.

    A rate is messages per second over the log's span. Messages that no channel holds are dropped.
    """
    origin = log.origin()
    with screen.working() as progress:
        found = make_traffic(
            TrafficTask(
                log.log if origin is None else origin.shown,
                subscriptions,
                out,
                spark.choice(*([log.log, subscriptions] if origin is None else [])),
                channels=_channels(channels),
                prices=prices,
                strict=strict,
                notice=screen.notice,
                progress=progress,
                origin=origin,
            )
        )
    screen.report(found, *_told(found, out))


def _channels(text: str) -> int | None:
    if text == "exact":
        return None
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"--channels {text!r} is neither a whole number nor exact")
    return int(text)


def _told(found: TrafficSummary, out: Path) -> list[str]:
    grid = "" if len(found.shape) == 1 else f" in a grid of {' x '.join(map(str, found.shape))}"
    basis = (
        ""
        if found.false_traffic.false_positive_exact
        else f" (of {found.false_traffic.false_positive_messages:,} messages)"
    )
    before = f" of {found.channels_before:,}" if found.channels_before != found.channels else ""
    one = "channel" if found.channels == 1 else "channels"
    share = found.false_traffic.false_positive_share
    advice = "" if share < 0.05 else "; more --channels bring it down"
    return [
        f"{counted(found.log_rows, 'message')} over {found.span_seconds:,.6g} s by {found.publishers:,} "
        f"publishers, {counted(found.subscriptions, 'subscription')} of {found.subscribers:,} users",
        f"{found.channels:,} {one}{before}{grid}; a channel is wanted by {found.density:.1%} of the "
        f"{counted(found.users, 'user')} on average",
        f"false traffic: {share:.2%} of what users receive{basis}{advice}",
        f"messages dropped, for no channel holds them: {found.dropped:,}"
        + (f"; rows refused: {found.rejected:,}, see {out / REJECTS}" if found.rejected else ""),
        f"written to {out} in {found.seconds['total']:.1f} s",
    ]
