"""What goes wrong inside Spark, said in one sentence that helps the user. Nothing here runs a job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

from topicloom.errors import InputError, Interrupted, TopicloomError

# Ours, raised by code that ran inside a Python worker and carried to the driver as text.
_OURS = re.compile(r"topicloom\.errors\.(?:InputError|UsageError): (.+)")

_NOT_PARQUET = re.compile(
    r"not a Parquet file|UNABLE_TO_INFER_SCHEMA|CANNOT_READ_FILE_FOOTER|ParquetDecoding|parquet.*[Cc]orrupt"
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


def translated(error: BaseException, path: str) -> TopicloomError:
    """The error a user should see instead of `error`."""
    text = _whole_text(error)
    if ours := _OURS.findall(text):
        return InputError(ours[-1].strip())
    if "cancelled" in text and ("Job" in text or "SPARK_JOB_CANCELLED" in text):
        return Interrupted("stopped on request; nothing was written")
    if "No space left on device" in text:
        return InputError(
            f"no space is left on the disk while working on {path}: free some, or name another folder "
            "with --spark-conf spark.local.dir=FOLDER"
        )
    if "OutOfMemoryError" in text:
        return InputError(
            f"Spark ran out of memory while working on {path}: give it more with "
            "--spark-conf spark.driver.memory=SIZE"
        )
    file = _named_file(text) or path
    if "Permission denied" in text or "AccessControlException" in text:
        return InputError(f"cannot read {file}: permission denied")
    if "PATH_NOT_FOUND" in text or "FileNotFoundException" in text or "FILE_NOT_EXIST" in text:
        return InputError(f"no such file or folder: {file}")
    if _NOT_PARQUET.search(text):
        return InputError(f"cannot read {file}: it is not a whole Parquet file")
    if "FAILED_READ_FILE" in text:
        return InputError(f"cannot read {file}: {_root_cause(text)}")
    if isinstance(error, ConnectionError) or "Py4JNetworkError" in text:
        return InputError(f"Spark ended while working on {path}: it may have run out of memory")
    return InputError(f"Spark failed on {path}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """The first line of what an error says, without its class name."""
    text = _whole_text(error).strip()
    # What a Python worker raised stands at the end of its traceback.
    said = re.findall(r"^\w[\w.]*(?:Error|Exception): .+", text, re.MULTILINE)
    if "Traceback (most recent call last)" in text and said:
        return str(said[-1]).strip()
    line = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    plain = re.sub(r"^\[[A-Z_.]+\] | SQLSTATE: \w+", "", line.strip())
    return plain.strip().rstrip(".")


def _whole_text(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)
    parts = [str(error)]
    if java is not None:
        parts.insert(0, str(java.getMessage()))
    return "\n".join(parts)


def _named_file(text: str) -> str | None:
    found = re.search(r"(?:reading file|path does not exist:|footer for file:)\s*(\S+)", text, re.IGNORECASE)
    if found is None:
        return None
    return unquote(re.sub(r"^file:/*(?=/)", "", found[1].rstrip(".,:")))


def _root_cause(text: str) -> str:
    """What the last cause says: the first is only Spark's own wrapping."""
    causes = re.findall(r"Caused by: [\w.$]+(?:Exception|Error): (.+)", text)
    return causes[-1].strip().rstrip(".") if causes else "Spark could not read it"
