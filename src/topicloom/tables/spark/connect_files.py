"""Files as Spark Connect shows them, where nobody can talk to Hadoop: through Spark's own table of files.

Spark passes over files without a byte and names that begin with `_` or `.`. So nobody sees the manifest of
a table that we wrote at an address, and all files of its folder are read. What a task wrote there that was
given up are the same rows once more: they count as duplicates.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from topicloom.base.addresses import is_address
from topicloom.errors import InputError
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.raw_table import NO_PATTERNS, PATTERN_SIGNS
from topicloom.tables.table_files import Listing
from topicloom.tables.table_formats import LOGS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Statuses = dict[str, tuple[int, int]]  # size and time of change, in milliseconds, by address

FIRST_LINES = 200  # of a file that is too large to be handed over
_PLACE = re.compile(r"(?:[A-Za-z][\w+.\-]*:)?(?://[^/]*)?(.*)", re.DOTALL)


@dataclass(slots=True)
class ConnectFiles:
    """What lies at paths as Spark sees them; a folder is listed with all that is in it, once."""

    spark: SparkSession
    statuses: Statuses = field(default_factory=dict)
    folders: dict[str, dict[str, bool]] = field(default_factory=dict)  # what each holds: is it a folder?

    def listing(self, path: str) -> Listing:
        """Return what lies there; raises InputError where there is nothing."""
        known = path in self.folders
        found = self.look(path)
        if found is None:
            raise InputError(f"no such file or folder: {path}")
        if known or not found.is_folder:
            return found
        logs = [(name, True) for name in self._logs(found.path)]
        return Listing(found.path, True, (*logs, *found.entries))

    def _logs(self, folder: str) -> list[str]:
        """Return the logs of other formats there: Spark passes over their names unless it is asked for them.

        It writes an error to its own log for each that is not there, so all are asked for at once.
        """
        if _found(self.spark, folder, f"/{{{','.join(LOGS)}}}") is None:
            return []
        return [name for name in LOGS if _found(self.spark, f"{folder}/{name}") is not None]

    def look(self, path: str) -> Listing | None:
        """Return what lies there, None where there is nothing."""
        whole = path if path in self.folders or path in self.statuses else self._list(path)
        if whole is None or whole in self.statuses:
            return None if whole is None else Listing(whole, False)
        return Listing(whole, True, tuple(sorted(self.folders[whole].items())))

    def _list(self, path: str) -> str | None:
        """Note all files at a path; return it as Spark writes it, None where there is nothing."""
        if not is_address(path) and not path.startswith("/"):
            raise InputError(f"{path} lies where Spark runs, on another machine: give its whole path")
        root = posixpath.normpath(f"/{_place(path).lstrip('/')}").rstrip("/")
        files = _found(self.spark, path, deep=True)
        if files is None:
            return None
        with spark_errors(path):
            rows = files.selectExpr("path", "length", "unix_millis(modificationTime) changed").collect()
        whole = path.rstrip("/")
        for row in rows:
            place = _place(row["path"])
            whole = f"{row['path'].removesuffix(place)}{root}"
            self.statuses[row["path"]] = row["length"], row["changed"]
            if place != root:
                self._note(whole, place.removeprefix(f"{root}/"))
        if whole not in self.statuses:
            self.folders.setdefault(whole, {})
        return whole

    def _note(self, folder: str, file: str) -> None:
        *inside, name = file.split("/")
        for one in inside:
            self.folders.setdefault(folder, {})[one] = True
            folder += f"/{one}"
        self.folders.setdefault(folder, {})[name] = False


def read_file(spark: SparkSession, path: str) -> bytes:
    """Return the content of a small file."""
    with spark_errors(path):
        rows = _files(spark, path).select("content").collect()
    return b"".join(bytes(row["content"]) for row in rows)


def read_ends(spark: SparkSession, path: str, size: int) -> tuple[bytes, bytes]:
    """Return the first bytes of a file and its last one; Spark reads all of it for that."""
    ends = f"substring(content, 1, {size}) first", "substring(content, -1, 1) last"
    with spark_errors(path):
        rows = _files(spark, path).selectExpr(*ends).collect()
    return (bytes(rows[0]["first"]), bytes(rows[0]["last"])) if rows else (b"", b"")


def first_lines(spark: SparkSession, path: str) -> Iterator[tuple[bytes, bool]]:
    """Yield longer and longer beginnings of a file of which Spark reads no more than that: whole lines."""
    count, complete = FIRST_LINES, False
    while not complete:
        lines = spark.read.option(*NO_PATTERNS).text(path, lineSep="\n")
        first = lines.where("_metadata.file_block_start = 0").selectExpr("cast(value as binary) line")
        with spark_errors(path):
            found = first.limit(count).toArrow()["line"].to_pylist()
        complete = len(found) < count
        yield b"".join(line + b"\n" for line in found), complete
        count *= 8


def _files(spark: SparkSession, path: str, inside: str = "", *, deep: bool = False) -> DataFrame:
    """Return Spark's table of the files at a path, or of those that a pattern below it means.

    A path with the signs of a pattern is given as the pattern of itself: Spark looks only then whether there
    is anything.
    """
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", str(deep).lower())
    if not inside and not PATTERN_SIGNS & set(path):
        return reader.option(*NO_PATTERNS).load(path)
    return reader.load(re.sub(r"[\[\]{}*?\\]", r"\\\g<0>", path) + inside)


def _found(spark: SparkSession, path: str, inside: str = "", *, deep: bool = False) -> DataFrame | None:
    """Return the same table, None where there is nothing: Connect looks when it is asked for the columns."""
    from pyspark.errors import AnalysisException

    with spark_errors(path):
        try:
            files = _files(spark, path, inside, deep=deep)
            files.columns  # noqa: B018
        except AnalysisException as error:
            if error.getCondition() == "PATH_NOT_FOUND":
                return None
            raise
    return files


def _place(path: str) -> str:
    """Return the path inside the file system of an address.

    >>> _place("s3a://bucket/a/b"), _place("file:/tmp/x"), _place("/tmp/x")
    ('/a/b', '/tmp/x', '/tmp/x')
    """
    found = _PLACE.fullmatch(path)
    assert found is not None  # it matches any text
    return str(found[1])
