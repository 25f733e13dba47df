"""Settings of a Spark session: what may be asked for, and defaults that suit the machine. Starts nothing."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from topicloom.base.addresses import is_address
from topicloom.errors import UsageError
from topicloom.tables.source import address

GIGABYTE = 1 << 30
PYTHON_MEMORY = "spark.executor.pyspark.memory"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}

# What results depend on: it holds in every session, the user's own included, unless somebody asks otherwise.
RULES = {
    # An overflow or a bad cast must be an error, never a silent null.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Columns `Node` and `node` are two columns.
    "spark.sql.caseSensitive": "true",
    # The value of a partition folder is a text.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # A damaged or missing file must not pass as an empty one.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
# Settings of a Java that runs already: nobody can apply them any more.
JAVA_STARTED_WITH = (
    "spark.driver.memory",
    JAVA_OPTIONS,
    "spark.driver.extraClassPath",
    "spark.driver.extraLibraryPath",
)
OVERHEAD = (
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.kubernetes.memoryOverheadFactor",  # its older name
)
SHUFFLE_PARTITIONS = 32  # of a local Spark: 200 million rows were too much for 8 of them and 4 GB of Java
TASK_MEGABYTES = 1792  # of Java's heap for each task of a local Spark
PYTHON_MEGABYTES = 1536  # of one Python worker: libraries and kernels, and a group of 50,000 nodes

_MASTER = re.compile(
    r"local|local\[(\*|[1-9]\d*)(,[1-9]\d*)?\]|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://[^\s,]+:\d+(,[^\s,]+:\d+)*|k8s://\S+|yarn"
)


def checked_settings(master: str | None, conf: Mapping[str, str] | None) -> dict[str, str]:
    """Return the caller's Spark settings; refuse what Spark could never take."""
    asked = {str(key): str(value) for key, value in (conf or {}).items()}
    wrong = next((key for key in asked if not re.fullmatch(r"spark\.[^\s=]+", key)), None)
    if wrong is not None:
        raise UsageError(f"{wrong!r} is not a Spark setting: the keys of `spark_conf` begin with 'spark.'")
    if master is not None:
        asked["spark.master"] = master
    url = asked.get("spark.master")
    if url is not None and not _MASTER.fullmatch(url):
        raise UsageError(
            f"{url!r} is not a Spark master: `master` takes local, local[N], local[*], spark://HOST:PORT, "
            "yarn or k8s://URL"
        )
    return asked


def default_conf(
    master: str, *, quick: bool = False, given: Mapping[str, str] | None = None, memory: int | None = None
) -> dict[str, str]:
    """Return the default settings of a session, all but those that are `given` already.

    `quick` suits small inputs on this machine: compiling queries well takes longer than running them badly.
    `memory` is that of this machine in bytes, where it is not to be looked up.
    """
    given, memory = given or {}, memory or _memory()
    conf = {
        "spark.app.name": "topicloom",
        # On a cluster there is much to see, and time to see it.
        "spark.ui.enabled": str(not is_local(master)).lower(),
        "spark.ui.showConsoleProgress": "false",
        # Opening a small file takes less than Spark thinks: more of them go to one task.
        "spark.sql.files.openCostInBytes": "1m",
        # Progress comes from these counts; by default Spark passes over quick changes.
        "spark.ui.liveUpdate.period": "0ms",
        **_memory_conf(master, given, memory // GIGABYTE),
    }
    if is_local(master):
        # A task sorts the rows of its partition in one array, which must not outgrow Java. Tables that are
        # kept stay in as many parts, and work that goes over them again and again has as many tasks.
        conf["spark.sql.shuffle.partitions"] = str(max(SHUFFLE_PARTITIONS, 4 * _cores()))
        if quick:
            conf |= QUICK
    if stays_here(master):
        conf["spark.driver.host"] = "127.0.0.1"
    return {key: value for key, value in conf.items() if key not in given} | RULES


def _memory_conf(master: str, given: Mapping[str, str], gigabytes: int) -> dict[str, str]:
    """Return sizes: what tasks need for a local Spark, a part of this machine for the driver of a cluster.

    What is collected must fit into the driver beside the rest. Java takes what it may before it looks for
    garbage, so a local one may take so much for each task at a time, and at most half of the machine; what
    does not fit is spilled. YARN and Kubernetes end an executor that takes more than was asked for, and by
    themselves ask for too little beside Java for our Python workers.
    """
    here = is_local(master)
    if here:
        heap = max(1 << 10, min(gigabytes << 9, TASK_MEGABYTES * max(2, _tasks(master))))
    else:
        heap = max(2, min(8, gigabytes // 4)) << 10
    if 31 < heap >> 10 < 48:
        heap = 31 << 10  # beyond, Java's pointers are twice as long: less fits
    conf = {"spark.driver.memory": f"{heap}m"}
    if "spark.driver.memory" in given:
        del conf["spark.driver.memory"]
        heap = size_in_bytes(given["spark.driver.memory"]) >> 20
    conf["spark.driver.maxResultSize"] = f"{min(2 << 10, max(heap, 1 << 10) // 2)}m"
    sized = (*OVERHEAD, PYTHON_MEMORY)
    if master.startswith(("yarn", "k8s")) and not any(key in given for key in sized):
        cores = given.get("spark.executor.cores", "1")
        workers = int(cores) if cores.isdigit() else 1
        conf["spark.executor.memoryOverhead"] = f"{512 + PYTHON_MEGABYTES * workers}m"
    return conf


def _tasks(master: str) -> int:
    """Return how many tasks a local Spark runs at a time.

    >>> _tasks("local"), _tasks("local[3]"), _tasks("local[8,2]")
    (1, 3, 8)
    """
    named = re.match(r"local\[(\d+)", master)
    if named is not None:
        return int(named[1])
    return 1 if master == "local" else _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def size_in_bytes(size: str, plain: int = 1 << 20) -> int:
    """Return one of Spark's sizes; a number without a unit is in `plain`, which differs among settings.

    >>> size_in_bytes("4g") // GIGABYTE, size_in_bytes("2048m") // GIGABYTE, size_in_bytes("512")
    (4, 2, 536870912)
    """
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower())
    if found is None:
        return 0  # Spark itself tells what is wrong with it
    return int(found[1]) * {"k": 1 << 10, "m": 1 << 20, "": plain, "g": 1 << 30, "t": 1 << 40}[found[2]]


def is_local(master: str) -> bool:
    """Return whether driver and executors share this machine."""
    return master.startswith("local")


def stays_here(master: str) -> bool:
    """Return whether only this machine needs to reach the driver: local, or a master on loopback.

    >>> stays_here("spark://127.0.0.1:7077"), stays_here("spark://head:7077"), stays_here("yarn")
    (True, False, False)
    """
    return is_local(master) or (
        master.startswith("spark://") and all(_is_loopback(host) for host, _ in _addresses(master))
    )


def event_log_conf(folder: str) -> dict[str, str]:
    """Return settings that make Spark write its events to `folder`, one file of JSON lines per run."""
    if not is_address(folder):
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"`event_log={folder}`: {error.strerror or error}; name a folder") from None
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": address(folder),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }


def folder_conf(master: str, folder: Path) -> dict[str, str]:
    """Return where Spark keeps its temporary files."""
    conf = {"spark.sql.warehouse.dir": (folder / "warehouse").as_uri()}
    if is_local(master):
        # On a cluster the workers' own setting decides where they spill.
        conf["spark.local.dir"] = str(folder / "local")
    return conf


def java_options(asked: Mapping[str, str], *ours: str) -> str:
    """Return options of the driver's JVM: our silent log settings and others, then what the caller wants."""
    silent = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    # The caller's come last: of two equal -D options Java takes the last.
    return " ".join(filter(None, (silent, *ours, asked.get(JAVA_OPTIONS, ""))))


def check_reachable(master: str) -> None:
    """Refuse a master that does not answer: Spark itself would try for a minute."""
    if not master.startswith("spark://"):
        return
    for host, port in _addresses(master):
        with suppress(OSError), socket.create_connection((host, port), timeout=5):
            return
    raise UsageError(f"no Spark master answers at {master}: start it or give another `master`")


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    """Yield host and port of each of a standalone cluster's masters."""
    for one in master.removeprefix("spark://").split(","):
        host, _, port = one.rpartition(":")
        yield host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _memory() -> int:
    """Return bytes of memory this process may use: the machine's, or its control group's if that is less."""
    sizes = []
    with suppress(ValueError, OSError, AttributeError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError, OSError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(sizes, default=4 * GIGABYTE)
