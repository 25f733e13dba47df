"""Archive the classes of Spark that commands load, so that later ones start in half the time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.tables.spark.class_archive import make_archive
from topicloom.tables.spark.java import find_java
from topicloom.tables.spark.settings import QUICK_JAVA


def warm_spark(*, progress: Progress = SILENT) -> bool:
    """Make the archive unless there is one; returns whether there is one now.

    It holds the classes that a build loads. A process of its own runs one: the archive is written when its
    JVM ends.
    """
    progress.phase("archive Spark's classes")
    return make_archive(find_java(), _run_aside)


def _run_aside(java_option: str) -> None:
    script = f"from {__name__} import build_toy; build_toy({java_option!r})"
    subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, check=False)


def build_toy(java_option: str) -> None:
    """Build an overlay for a toy table, with this option for the JVM."""
    from topicloom.cli.main import execute

    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "table.csv"
        table.write_text("node,topic\na,x\nb,x\nb,y\nc,y\n")
        execute(
            [
                *("build", str(table), "--out", str(table.with_name("build")), "--quiet"),
                *("--algorithm", "ring-pt", "--master", "local[2]"),
                f"--spark-conf=spark.driver.extraJavaOptions={java_option} {QUICK_JAVA}",
            ]
        )
