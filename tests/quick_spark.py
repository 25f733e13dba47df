"""Spark for tables of a few rows, as commands start it for them, in sessions that tests start themselves."""

from __future__ import annotations

from topicloom.tables.spark.class_archive import using_archive
from topicloom.tables.spark.java import find_java
from topicloom.tables.spark.settings import QUICK, QUICK_JAVA

JAVA = f"{using_archive(find_java())} {QUICK_JAVA}".strip()
CLUSTER = QUICK | {
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
}
OPTIONS = ["--master", "local[2]"]
# Of tables behind an address a command does not know that they are small.
SMALL = [f"--spark-conf={key}={value}" for key, value in CLUSTER.items()]
