"""A folder behind an address, through Hadoop: small files are read, written and listed, and folders removed.

Through Spark Connect they are only read and listed.
This is all that is asked of a file system besides what Spark itself does there: nothing is renamed, linked,
locked or changed once it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topicloom.errors import InputError
from topicloom.tables.spark.connect_files import ConnectFiles
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.links import is_connect
from topicloom.tables.spark.table_files import hadoop_file, read_far

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Entry(NamedTuple):
    """What a folder holds."""

    name: str
    is_folder: bool


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """A folder behind an address; names are relative to it, the empty name is the folder itself."""

    spark: SparkSession
    address: str

    def path(self, name: str = "") -> str:
        """Return the address of what has this name."""
        base = self.address.rstrip("/")
        return f"{base}/{name}" if name else base

    def entries(self, name: str = "") -> list[Entry]:
        """Return what a folder holds, by name; nothing where it does not exist."""
        if is_connect(self.spark):
            found = ConnectFiles(self.spark).look(self.path(name))
            return [] if found is None else [Entry(*entry) for entry in found.entries]
        with spark_errors(self.path(name)):
            system, place = self._at(name)
            if not system.exists(place):
                return []
            if not system.getFileStatus(place).isDirectory():
                raise InputError(f"{self.path(name)} is a file; name a folder that does not exist yet")
            found = system.listStatus(place)
            return sorted(Entry(str(one.getPath().getName()), bool(one.isDirectory())) for one in found)

    def read(self, name: str) -> bytes | None:
        """Return the content of a small file; None where there is none, or where the folder is a file."""
        if is_connect(self.spark):
            there = Entry(name, False) in self.entries()
            return read_far(self.spark, self.path(name)) if there else None
        with spark_errors(self.path(name)):
            system, folder = self._at("")
            # To ask for something below a file is an error in HDFS.
            if not system.exists(folder) or not system.getFileStatus(folder).isDirectory():
                return None
            system, place = self._at(name)
            return read_far(self.spark, self.path(name)) if system.exists(place) else None

    def write(self, name: str, content: bytes) -> None:
        """Write a small file; refuse to write over another one."""
        with spark_errors(self.path(name)):
            system, place = self._at(name)
            if system.exists(place):
                raise InputError(f"{self.path(name)} is there already: another run has written it")
            stream = system.create(place, False)
            stream.write(bytearray(content))
            stream.close()
            seen = int(system.getFileStatus(place).getLen())
        _check_size(self.path(name), seen, len(content))

    def upload(self, file: Path, name: str) -> None:
        """Copy a file of this machine."""
        with spark_errors(self.path(name)):
            system, place = self._at(name)
            here = hadoop_file(self.spark, file.absolute().as_uri())[1]
            system.copyFromLocalFile(False, False, here, place)
            seen = int(system.getFileStatus(place).getLen())
        _check_size(self.path(name), seen, file.stat().st_size)

    def remove(self, name: str) -> None:
        """Remove a file or a folder with all that is in it, if it is there."""
        with spark_errors(self.path(name)):
            system, place = self._at(name)
            system.delete(place, True)

    def remove_empty(self) -> None:
        """Remove the folder itself, if nothing is in it."""
        if not self.entries():
            with spark_errors(self.path()):
                system, place = self._at("")
                system.delete(place, False)

    def _at(self, name: str) -> tuple[Any, Any]:
        return hadoop_file(self.spark, self.path(name))


def _check_size(path: str, seen: int, written: int) -> None:
    if seen != written:
        raise InputError(f"{path} has {seen:,} of {written:,} bytes after writing it: it cannot be used")
