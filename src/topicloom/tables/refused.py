"""Refused rows by reason: how many, an example of each, what helps, and which names are lost with them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.counts import counted
from topicloom.base.summaries import Summary
from topicloom.tables.encodings import likely_encoding
from topicloom.tables.source import TableSource

LOST_NAMES = 3  # that are named
SHOWN = 60  # characters of a row, at most
# What of a reason differs from row to row, and what stays; in the words that Python and Spark share.
KINDS = (
    ("^(not valid [^ ]+) at byte .*$", 1),
    ("^(too (few|many) fields): .*$", 1),
    ("(?s)^(the [^']+) '.*' (is none of .*|is not .*)$", 2),
)


class RefusedKind(Summary, frozen=True):
    """Rows that were refused for one reason; the example is the first by file and text."""

    reason: str
    rows: int
    file: str
    row: str


class LostNames(Summary, frozen=True):
    """Names that can be read and occur in refused rows only: how many, and the first by their bytes."""

    count: int
    first: list[str]


class RefusedRows(Summary, frozen=True):
    """All refused rows of a table, most frequent reasons first; `lost` by field, where there are any."""

    kinds: list[RefusedKind] = msgspec.field(default_factory=list)
    lost: Mapping[str, LostNames] = msgspec.field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(kind.rows for kind in self.kinds)

    def by_reason(self) -> dict[str, int]:
        """Return how many rows were refused for each reason."""
        return {kind.reason: kind.rows for kind in self.kinds}


NONE_REFUSED = RefusedRows()


def ordered(kinds: list[RefusedKind]) -> list[RefusedKind]:
    """Return them as they are told."""
    return sorted(kinds, key=lambda kind: (-kind.rows, kind.reason))


def reason_kind(reason: str) -> str:
    """Return a reason without what differs from row to row.

    >>> reason_kind("too few fields: 1 where the first row has 2")
    'too few fields'
    >>> reason_kind("the rate '-1' is not a finite number of at least 0")
    'the rate is not a finite number of at least 0'
    """
    for pattern, groups in KINDS:
        reason = re.sub(pattern, r"\1" if groups == 1 else r"\1 \2", reason)
    return reason


def gather_refused(rejects: pa.Table, rows: pa.Table) -> RefusedRows:
    """Return what there is to say of rejects in memory, in order; beside `rows`, the good ones."""
    kinds: dict[str, RefusedKind] = {}
    counts: dict[str, int] = {}
    for file, row, reason in zip(
        *(rejects[name].to_pylist() for name in ("file", "row", "reason")), strict=True
    ):
        kind = reason_kind(reason)
        counts[kind] = counts.get(kind, 0) + 1
        kinds.setdefault(kind, RefusedKind(kind, 0, file, row))
    found = [msgspec.structs.replace(kind, rows=counts[reason]) for reason, kind in kinds.items()]
    lost = {}
    for name in (name for name in rejects.column_names if name in rows.column_names):
        words = rejects[name].drop_null().unique()
        gone = words.filter(pc.invert(pc.is_in(words, value_set=rows[name].unique())))
        if len(gone):
            first = gone.take(pc.sort_indices(gone)[:LOST_NAMES]).to_pylist()
            lost[name] = LostNames(len(gone), first)
    return RefusedRows(ordered(found), lost)


# --- what the user is told -------------------------------------------------------------------------------


def refused_told(refused: RefusedRows, source: TableSource) -> str:
    """Return the notice about refused rows, one line for each reason."""
    lines = [f"{counted(refused.rows, 'row was', 'rows were')} refused in {source.path}:"]
    for kind in refused.kinds:
        place = "" if kind.file == source.path else f"in {kind.file} "
        hint = _hint(kind, source)
        lines.append(
            f"  {counted(kind.rows, 'row')}: {kind.reason}, e.g. {place}{_quoted(kind)}"
            + (f"; {hint}" if hint else "")
        )
    if refused.lost:
        lines.append(f"  in refused rows only: {lost_told(refused)}")
    return "\n".join(lines)


def lost_told(refused: RefusedRows) -> str:
    """Return how many names are lost, and some of them."""
    parts = []
    for name, lost in refused.lost.items():
        more = ", ..." if lost.count > len(lost.first) else ""
        parts.append(f"{counted(lost.count, name)} ({', '.join(map(repr, lost.first))}{more})")
    return " and ".join(parts)


def _hint(kind: RefusedKind, source: TableSource) -> str:
    options = source.options
    if kind.reason == "not valid UTF-8":
        encoding = likely_encoding(kind.row)
        give = options.give("encoding", encoding)
        if not give:
            return "save the file as UTF-8"
        return f"try {give}, which reads it as {_decoded(kind.row, encoding)}"
    if kind.reason.startswith("not valid "):
        return f"another {options.encoding} may be meant"
    if kind.reason == "too many fields":
        return f"a field that holds the separator must be in quotes; or check {options.separator}"
    if kind.reason == "too few fields":
        return f"check {options.separator}"
    return ""


def _quoted(kind: RefusedKind) -> str:
    """Return a row in quotes; bytes that are no text are written out already."""
    shown = repr(_short(kind.row))
    return re.sub(r"\\\\(x[0-9a-f]{2})", r"\\\1", shown) if kind.reason.startswith("not valid ") else shown


def _decoded(row: str, encoding: str) -> str:
    """Return how a row that is no UTF-8 reads in another encoding."""
    text = re.sub(r"\\x([0-9a-f]{2})", lambda byte: bytes.fromhex(byte[1]).decode(encoding, "replace"), row)
    return repr(_short(text))


def _short(row: str) -> str:
    return row if len(row) <= SHOWN else f"{row[: SHOWN - 3]}..."
