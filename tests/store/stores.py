"""File systems for tests: `store:`, which like an object store cannot rename, and `sftp:`, a real remote one.

`store:` and a commit protocol for it are a few Java classes (`java/`), compiled once for all tests.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

JAVA = Path(__file__).parent / "java"
JARS = Path(pyspark.__file__).parent / "jars"
COMMIT = {"spark.sql.sources.commitProtocolClass": "StoreCommit"}


def store_jar(base: Path) -> Path:
    """The classes as a jar among the temporary files of pytest; its first worker that asks makes it."""
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    jar = folder / "store.jar"
    with (folder / "store.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists():
            classes = folder / "store-classes"
            sources = sorted(map(str, JAVA.glob("*.java")))
            words = ["javac", "-nowarn", "-proc:none", "--release", "17", "-XDsuppressNotes"]
            path = ":".join(str(one) for one in JARS.glob("*.jar") if one.name.startswith(USED))
            subprocess.run([*words, "-d", str(classes), "-cp", path, *sources], check=True)
            with zipfile.ZipFile(folder / "store.part", "w") as made:
                for file in classes.iterdir():
                    made.write(file, file.name)
            os.replace(folder / "store.part", jar)
    return jar


USED = ("hadoop-client-api", "spark-core", "spark-common-utils", "spark-tags", "scala-library", "slf4j-api")


def store_conf(jar: Path, root: Path) -> dict[str, str]:
    """Settings of a session of its own that knows `store:`."""
    hadoop = {"fs.store.impl": "StoreFileSystem", "fs.store.root": str(root)}
    return {
        "spark.jars": str(jar),
        **{f"spark.hadoop.{key}": value for key, value in hadoop.items()},
        **COMMIT,
    }


@contextmanager
def store_in(spark: SparkSession, jar: Path, root: Path) -> Iterator[str]:
    """Let a session that runs know `store:` inside the block; gives the address of `root`."""
    root.mkdir(parents=True, exist_ok=True)
    java = spark.sparkContext._jvm.java
    # The class loader of Java's first thread, which all others inherit.
    java.lang.Thread.currentThread().getContextClassLoader().addURL(java.io.File(str(jar)).toURI().toURL())
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set("fs.store.impl", "StoreFileSystem")
    hadoop.set("fs.store.root", str(root))
    hadoop.set("fs.store.impl.disable.cache", "true")
    for key, value in COMMIT.items():
        spark.conf.set(key, value)
    try:
        yield "store://bucket"
    finally:
        for key in COMMIT:
            spark.conf.unset(key)
