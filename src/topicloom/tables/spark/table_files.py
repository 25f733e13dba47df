"""Which files a table consists of, wherever it lies. No row is read here.

Paths without a scheme are the machine's own; `s3a:`, `hdfs:`, `file:` and the like are listed through
Hadoop, so everything works on them too. Through Spark Connect they are listed by Spark (`connect_files.py`);
where Spark then runs on another machine, so is every path.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from topicloom.base.addresses import is_address
from topicloom.errors import InputError
from topicloom.tables import table_files
from topicloom.tables.source import Resolved, TableSource
from topicloom.tables.spark.connect_files import ConnectFiles, Statuses, read_file
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.links import is_connect, require_files, shares_files
from topicloom.tables.table_files import Listing, Look, list_here, read_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def resolve(spark: SparkSession, source: TableSource, statuses: Statuses | None = None) -> Resolved:
    """Return the files that `source` means; raises InputError when there are none or they cannot be used.

    `statuses` gets what the listing tells of files behind an address: asking for each takes far longer.
    """
    known: Statuses = {} if statuses is None else statuses
    connect = ConnectFiles(spark, known) if is_connect(spark) else None

    def listing(path: str) -> Listing:
        if not is_address(path) and shares_files(spark):
            return list_here(path)
        return _list_hadoop(spark, path, known) if connect is None else connect.listing(path)

    def read(path: str) -> bytes:
        return read_far(spark, path) if is_address(path) else read_here(path)

    found = table_files.resolve(source, Look(listing, read))
    files = [replace(file, size=known[file.path][0]) if file.path in known else file for file in found.files]
    return replace(found, files=tuple(files))


def signature(spark: SparkSession, source: TableSource) -> list[list[str | int]]:
    """Return name, size and time of change of every file of a table: does a later run see the same?"""
    found: list[list[str | int]] = []
    statuses: Statuses = {}
    for file in resolve(spark, source, statuses).files:
        if is_address(file.path):
            found.append([file.path, *statuses[file.path]])
        else:
            there = os.stat(file.path)
            found.append([file.path, there.st_size, there.st_mtime_ns])
    return found


def hadoop_file(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return Java's objects for the file system of an address and for the file."""
    require_files(spark, path)
    context: Any = spark.sparkContext
    place = _path_class(context._jvm)(path)
    return place.getFileSystem(context._jsc.hadoopConfiguration()), place


@lru_cache(maxsize=1)
def _path_class(jvm: Any) -> Any:
    """Return Java's class of paths: to find it takes Java longer than to make one."""
    return jvm.org.apache.hadoop.fs.Path


def _list_hadoop(spark: SparkSession, path: str, statuses: Statuses) -> Listing:
    with spark_errors(path):
        system, place = hadoop_file(spark, path)
        if not system.exists(place):
            raise InputError(f"no such file or folder: {path}")
        status = system.getFileStatus(place)
        whole = str(status.getPath().toString())
        if not status.isDirectory():
            statuses[whole] = _status(status)
            return Listing(whole, False)
        inside: list[tuple[str, bool]] = []
        for item in system.listStatus(place):
            name, is_folder = str(item.getPath().getName()), bool(item.isDirectory())
            inside.append((name, is_folder))
            if not is_folder:
                statuses[f"{whole.rstrip('/')}/{name}"] = _status(item)
        return Listing(whole, True, tuple(sorted(inside)))


def _status(status: Any) -> tuple[int, int]:
    return int(status.getLen()), int(status.getModificationTime())


def read_far(spark: SparkSession, path: str) -> bytes:
    """Return the content of a small file behind an address."""
    if is_connect(spark):
        return read_file(spark, path)
    with spark_errors(path):
        system, place = hadoop_file(spark, path)
        stream = system.open(place)
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()
