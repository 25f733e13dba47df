"""What goes wrong inside Spark, said in one sentence that helps the user. Nothing here runs a job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from topicloom.errors import InputError, Interrupted, TopicloomError
from topicloom.tables.spark.links import n_stage_tasks
from topicloom.tables.typed_columns import NOT_PARQUET, OTHER_TYPES, TWICE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Ours, raised by code that ran inside a Python worker and carried to the driver as text.
_OURS = re.compile(r"topicloom\.errors\.(?:InputError|UsageError): (.+)")

# What Spark says of jobs whose Java ends, as it does when a task finds no memory; nobody asked it to stop.
_ENDED = "SparkContext was shut down"
MOST_CAUSES = 8

# What stands in an error of Spark, and the sentence about the work on `path` or about the `file` it names.
_SENTENCES = {
    # What Python says of a library that does not fit into its memory.
    "failed to map segment from shared object|Could not find/load shared object file": "a Python worker "
    "could not load its libraries: spark.executor.pyspark.memory, where set, must be at least 1g, and more "
    "for large groups (docs/cluster.md)",
    "TABLE_OR_VIEW_NOT_FOUND": "there is no {path}: check its name, with catalog and schema; catalogs "
    "come with `spark_conf`, that of Hive with `spark_conf=spark.sql.catalogImplementation=hive`",
    "REQUIRES_SINGLE_PART_NAMESPACE|CATALOG_NOT_FOUND": "Spark knows no catalog for {path}: tell it of one "
    "with `spark_conf=spark.sql.catalog.NAME=CLASS` and what else it needs",
    "DATA_SOURCE_NOT_FOUND|Failed to find (the )?data source": "Spark does not know the format of {path}: "
    "add the jars for it with `spark_conf=spark.jars=JARS`",
    "No suitable driver|ClassNotFoundException: \\S*(Driver|jdbc)": "there is no JDBC driver for {path}: add "
    "its jar with `spark_conf=spark.jars=JAR`, and name its class with the option driver",
    "bigger than spark.driver.maxResultSize": "{path} is too large to be collected: more than "
    "spark.driver.maxResultSize",
    "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND|Checkpoint block rdd": "an executor was lost with what it kept of "
    "{path}: begin anew; of a build with `out`, `resume` goes on after the phases that are whole",
    "CANNOT_MERGE_SCHEMAS|CANNOT_MERGE_INCOMPATIBLE|Failed merging schemas": OTHER_TYPES,
    "COLUMN_ALREADY_EXISTS": TWICE,
    "No FileSystem for scheme|FileSystem not found": "Spark has no file system for {path}: add the jars of "
    "its connector with `spark_conf=spark.jars=JARS` (docs/cluster.md)",
    "No space left on device": "no space is left on the disk while working on {path}: free some, or name "
    "another folder with `spark_conf=spark.local.dir=FOLDER`",
    "OutOfMemoryError": "Spark ran out of memory while working on {path}: give it more with "
    "`spark_conf=spark.driver.memory=SIZE`",
    "Permission denied|AccessControlException": "cannot read {file}: permission denied",
    "PATH_NOT_FOUND|FileNotFoundException|FILE_NOT_EXIST": "no such file or folder: {file}",
    "not a Parquet file|UNABLE_TO_INFER_SCHEMA|CANNOT_READ_FILE_FOOTER|ParquetDecoding|parquet.*[Cc]orrupt": (
        NOT_PARQUET
    ),
}
_NO_PACKAGE = re.compile(
    r"ModuleNotFoundError: No module named '([\w.]+)'|PACKAGE_NOT_INSTALLED\] (\w+)", re.IGNORECASE
)
_NO_PYTHON = re.compile(r'topicloom: (no python[\d.]+ on the PATH)|Cannot run program "([^"]+)"')
_SHIP = (
    "pack this environment with `topicloom pack env.tar.gz` and add `spark_conf=spark.archives=env.tar.gz`"
)


@contextmanager
def spark_errors(path: str) -> Iterator[None]:
    """Turn whatever Spark raises inside into an InputError about `path` (or the file Spark names)."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except TopicloomError:
        raise
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise translated(error, path) from None


@contextmanager
def group_errors(spark: SparkSession, phase: str, n_groups: int) -> Iterator[None]:
    """Name the group of a lost process in a phase whose last stage has a task for each group.

    What a task itself raises, and faults of the stages before, pass through.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = _whole_text(error)
        found = re.search(r"Task (\d+) in stage (\d+)", text)
        tasks = n_stage_tasks(spark, int(found[2])) if found else None
        if found is None or tasks != max(n_groups, 1) or _OURS.search(text):
            raise
        if "Python worker exited unexpectedly" in text:
            raise InputError(out_of_memory(phase, int(found[1]))) from None
        if "ExecutorLostFailure" in text:
            raise InputError(
                f"{phase}: the executors that built group {found[1]} were lost again and again; if that is "
                "for lack of memory, add to it (`spark_conf=spark.executor.memoryOverhead=SIZE`) or make "
                "groups smaller with `kernel_nodes=N`"
            ) from None
        raise


def out_of_memory(phase: str, number: int, size: str = "") -> str:
    """Return what the user is told of a group that its worker could not hold."""
    return (
        f"{phase}: group {number}{size} ran out of memory; make groups smaller with `kernel_nodes=N` (or "
        "a larger p), or give each Python worker more (`spark_conf=spark.executor.pyspark.memory=SIZE`, or "
        "fewer cores at once)"
    )


def translated(error: BaseException, path: str) -> TopicloomError:
    """Return the error a user should see instead of `error`."""
    from py4j.protocol import Py4JNetworkError

    text = _whole_text(error)
    if ours := _OURS.findall(text):
        return InputError(ours[-1].strip())
    if _ENDED in text:
        return _java_ended(path)
    if "cancelled" in text and ("Job" in text or "SPARK_JOB_CANCELLED" in text):
        return Interrupted("stopped on request; nothing was written")
    if lack := _workers_lack(text):
        return InputError(lack)
    file = _named_file(text) or path
    for pattern, sentence in _SENTENCES.items():
        if re.search(pattern, text):
            return InputError(sentence.format(path=path, file=file))
    if "FAILED_READ_FILE" in text:
        return InputError(f"cannot read {file}: {_root_cause(text)}")
    if isinstance(error, (ConnectionError, Py4JNetworkError)) or _java_is_ending():
        return _java_ended(path)
    return InputError(f"Spark failed on {path}: {first_line(error)}")


def _java_is_ending() -> bool:
    """Return whether the Java of this process has stopped: what runs then fails in ways that name no cause.

    Spark calls them faults of its own, because parts that it needs are gone already.
    """
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None:
        return False
    try:
        return bool(context._jsc.sc().isStopped())
    except (Py4JError, ConnectionError):
        return True


def _java_ended(path: str) -> InputError:
    """Return what is told of a Java that is gone, which cannot say why itself."""
    return InputError(
        f"Spark ended while working on {path}: it may have run out of memory; give it more with "
        "`spark_conf=spark.driver.memory=SIZE`"
    )


def _workers_lack(text: str) -> str | None:
    """Return what Spark's workers would need to run our tasks, and how they get it."""
    if found := _NO_PACKAGE.search(text):
        return f"the Spark workers do not have the Python package {found[1] or found[2]}: {_SHIP}"
    if "PYTHON_VERSION_MISMATCH" in text:
        return (
            "the Spark workers run another version of Python than this one: name the right one with "
            f"`spark_conf=spark.pyspark.python=PYTHON`, or {_SHIP}"
        )
    if found := _NO_PYTHON.search(text):
        what = found[1] or f"no {found[2]} there"
        return (
            f"the Spark workers cannot run Python ({what}): install the version that runs here on them, or "
            "name theirs with `spark_conf=spark.pyspark.python=PYTHON`"
        )
    return None


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, without its class name."""
    text = _whole_text(error).strip()
    # What a Python worker raised stands at the end of its traceback.
    said = re.findall(r"^\w[\w.]*(?:Error|Exception): .+", text, re.MULTILINE)
    if "Traceback (most recent call last)" in text and said:
        return str(said[-1]).strip()
    line = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    plain = re.sub(r"^\[[A-Z_.]+\] | SQLSTATE: \w+|;? \(?line \d+,? pos \d+\)?;?", "", line.strip())
    return plain.strip().rstrip(".")


def _whole_text(error: BaseException) -> str:
    """Return what an error and its causes in Java say: the first is often only Spark's wrapping."""
    from py4j.protocol import Py4JError

    try:  # text of Java is asked of Java
        java = getattr(error, "java_exception", None)
        texts = [str(error)] if java is None else [str(java.getMessage()), str(error)]
        origin = java or getattr(error, "_origin", None)  # pyspark has made its own error of most
        if origin is not None:
            texts += _causes(origin)
    except (Py4JError, ConnectionError):
        return _ENDED
    return "\n".join(texts)


def _causes(java: Any) -> Iterator[str]:
    for _ in range(MOST_CAUSES):
        java = java.getCause()
        if java is None:
            return
        yield f"Caused by: {java.toString()}"


def _named_file(text: str) -> str | None:
    found = re.search(r"(?:reading file|path does not exist:|footer for file:)\s*(\S+)", text, re.IGNORECASE)
    if found is None:
        return None
    return unquote(re.sub(r"^file:/*(?=/)", "", found[1].rstrip(".,:")))


def _root_cause(text: str) -> str:
    """Return what the last cause says: the first is only Spark's own wrapping."""
    causes = re.findall(r"Caused by: [\w.$]+(?:Exception|Error): (.+)", text)
    return causes[-1].strip().rstrip(".") if causes else "Spark could not read it"
