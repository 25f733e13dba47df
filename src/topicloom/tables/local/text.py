"""Text tables in this process: the functions that run in Spark's Python workers, file by file."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.progress import Progress, check_stop
from topicloom.errors import InputError
from topicloom.tables.decompress import BadCompression, decompressed
from topicloom.tables.file_plans import Notice, beginnings_here, joined_notices, plan_file, wanted_fields
from topicloom.tables.local.table import LocalTable
from topicloom.tables.parse_text import REJECTED, parse_content, parsed_schema
from topicloom.tables.reader import REJECT_COLUMNS, kept_names
from topicloom.tables.records import Field, FilePlan
from topicloom.tables.source import Resolved, TableSource


def read_text(source: TableSource, resolved: Resolved, progress: Progress) -> LocalTable:
    """Return the records of text files."""
    plans: dict[str, FilePlan] = {}
    notices: list[Notice] = []
    for file in resolved.files:
        planned = plan_file(file, source, resolved.format, beginnings_here)
        if planned is not None:
            plans[file.path] = planned[0]
            notices += [planned[1]] if planned[1] else []
    wanted = wanted_fields(source, plans.values())
    batches: list[pa.RecordBatch] = []
    for path, plan in plans.items():
        check_stop(progress)
        batches += _read_file(path, plan)
    parsed = pa.Table.from_batches(batches, parsed_schema(source.fields))
    return told_apart(source, parsed, wanted, joined_notices(notices))


def told_apart(
    source: TableSource, parsed: pa.Table, wanted: Sequence[Field], notice: str | None
) -> LocalTable:
    """Return parsed lines as rows and rejects: a row with a reason is one of the latter."""
    fine = pc.is_null(parsed["_reason"])
    rows = parsed.filter(fine).select([field.name for field in wanted])
    names = kept_names(source)
    rejects = parsed.filter(pc.invert(fine)).select([*REJECTED, *names])
    rejects = rejects.rename_columns([*REJECT_COLUMNS, *names])
    return LocalTable(source, rows, rejects, notice)


def _read_file(path: str, plan: FilePlan) -> list[pa.RecordBatch]:
    try:
        with open(path, "rb") as raw:
            return list(parse_content(decompressed(raw, plan.compression), plan))
    except FileNotFoundError:
        raise InputError(f"no such file or folder: {plan.shown}") from None
    except (BadCompression, OSError) as error:
        raise InputError(f"cannot read {plan.shown}: {error}") from None
