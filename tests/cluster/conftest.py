"""What the cluster tests share: the packed environment, and one cluster for all of them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster.standalone import Cluster, running_cluster


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed environment, by the real command; made once, by the first worker of pytest that asks."""
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "topicloom-env.tar.gz"
    with out.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            subprocess.run([sys.executable, "-m", "topicloom", "pack", str(out), "--quiet"], check=True)
    return out


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, archive: Path) -> Iterator[Cluster]:
    """The running cluster."""
    with running_cluster(tmp_path_factory.mktemp("cluster"), archive) as running:
        yield running


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the `topicloom` command as a user would, in an empty folder."""

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYSPARK_")}
        return subprocess.run(
            [sys.executable, "-m", "topicloom", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return command
