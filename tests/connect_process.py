"""Runs a program that works through Spark Connect, with nothing of the shell around.

A process has either classic sessions or such that go through Connect, never both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark

from quick_spark import CLUSTER
from topicloom.tables.spark.java import find_java

SECONDS = 480  # about 90 on a machine with nothing else to do; then every thread tells where it stands
SETTINGS = {**CLUSTER, "spark.ui.showConsoleProgress": "false"}


def run_connect_program(name: str, given: Any, folder: Path) -> None:
    """Run a program of this folder on `given` as JSON; in `folder` the catalog has its tables."""
    tests, log = Path(__file__).parent, folder / "log"
    (folder / "java").mkdir()
    # No proxy, no other Spark or its settings, no Python of another version.
    environment = {
        **{name: os.environ[name] for name in ("HOME", "PATH", "TMPDIR") if name in os.environ},
        "PYTHONPATH": f"{tests.parent / 'src'}",
        "PYSPARK_PYTHON": sys.executable,  # the server starts its workers: a bare python3 else
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "JAVA_HOME": str(find_java().home(folder / "java")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_TESTING": "1",  # any free port
    }
    with log.open("wb") as told:  # no pipe: Java would keep it open
        done = subprocess.run(
            [sys.executable, str(tests / name)],
            input=json.dumps(given).encode(),
            stdout=told,
            stderr=told,
            env=environment,
            cwd=folder,
            timeout=SECONDS + 30,
        )
    assert done.returncode == 0, log.read_text(errors="replace")[-5000:]
