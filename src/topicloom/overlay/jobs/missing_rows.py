"""When so much of a table was refused that a proof about the rest says little about the table."""

from __future__ import annotations

from topicloom.base.counts import counted, part_of
from topicloom.base.summaries import UNSET
from topicloom.overlay.model.build import BuildSummary

SHARE = 0.1  # of all rows that may be refused


def missing_told(summary: BuildSummary) -> list[str]:
    """Return why a build leaves out too much of its table; nothing if it does not.

    That is so where more than a tenth of the rows were refused, or where a node or a topic that can be read
    occurs in refused rows only, so that it is in no overlay.
    """
    lines = []
    rows = summary.rejected + summary.subscriptions + summary.duplicates
    if summary.rejected > SHARE * rows:
        share = part_of(summary.rejected, rows, "row", ("was", "were"))
        lines.append(f"{share} refused, more than a tenth")
    if summary.only_rejected is not UNSET:
        told = [counted(count, name.removesuffix("s")) for name, count in summary.only_rejected.items()]
        occur = "occurs" if sum(summary.only_rejected.values()) == 1 else "occur"
        lines.append(f"{' and '.join(told)} {occur} in refused rows only, so in no overlay")
    return (
        [*lines, "next: mend the table, or give `allow_rejects` to go on without these rows"] if lines else []
    )
