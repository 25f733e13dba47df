"""The command as a real process: clean streams, no traceback, Ctrl-C, nothing half-written."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import quick_spark

PR_SET_CHILD_SUBREAPER = 36
COMMAND = [sys.executable, "-m", "topicloom"]


@pytest.fixture
def orphans_are_ours():
    """What a command leaves behind becomes ours, not init's, which may hide it by awaiting it."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    assert prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0


def run(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options
    )


@pytest.mark.spark
def test_spark_is_silent_and_json_alone_is_on_stdout(tmp_path):
    """Spark's start-up chatter on either stream would spoil scripts that read them."""
    table = tmp_path / "table.csv"
    table.write_text("node,topic\na,x\nb,x\n")
    done = run("build", table, "--algorithm", "gm", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["edges"] == 1


def test_importing_starts_no_jvm_and_compiles_nothing():
    script = "import sys, topicloom; print('pyspark' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


@pytest.mark.slow
def test_an_unexpected_error_is_one_sentence_too():
    """A full disk, for instance: /dev/full refuses every byte."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "build", "--list", "--json"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("topicloom: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.spark
@pytest.mark.parametrize(
    ("library", "sent"),
    [("libarrow", signal.SIGINT), ("java", signal.SIGINT), ("java", signal.SIGTERM)],
)
def test_ctrl_c_while_starting_is_one_sentence(tmp_path, orphans_are_ours, library, sent):
    """While modules load and while Java starts: no traceback of ours or of a library's.

    Schedulers send SIGTERM, and it is taken in the same way.
    """
    table = tmp_path / "table.csv"
    table.write_text("node,topic\na,x\nb,x\n")
    process = subprocess.Popen(
        [*COMMAND, "build", str(table), "--out", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while library == "libarrow" and library not in Path(f"/proc/{process.pid}/maps").read_text():
        time.sleep(0.005)
    while library != "libarrow" and not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text():
        time.sleep(0.005)
    if sent == signal.SIGINT:
        os.killpg(process.pid, sent)
    else:
        process.send_signal(sent)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130, told
    assert told.startswith(b"topicloom: interrupted"), told
    assert told.count(b"\n") == 1, told
    assert not (tmp_path / "out").exists()
    # Java does not hear Ctrl-C: one that we started must have been ended by us, and awaited.
    assert _session_of(process.pid) == []


@pytest.mark.spark
def test_ctrl_c_ends_a_build_and_leaves_nothing(tmp_path):
    """Interrupted in a kernel that would run for hours: exit 130, no folder, no temporary one."""
    from topicloom.overlay.workloads.generate import workload_from_options, write_text

    table = tmp_path / "table.tsv"
    write_text(workload_from_options(300, 50, "10", "zipf:0.5", 1), table)
    out = tmp_path / "results" / "build"
    out.parent.mkdir()
    process = subprocess.Popen(
        [
            *(*COMMAND, "build", str(table), "--out", str(out), *quick_spark.OPTIONS),
            *("--algorithm", "balanced", "--set", "work=10000000"),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"TTY_COMPATIBLE": "1", "COLUMNS": "100"},
        start_new_session=True,
        # In the background of a shell we ignore Ctrl-C; the command must not inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    shown = _wait_for(process, "local search")
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, (shown + rest)[-2000:]
    assert b"interrupted" in rest
    assert b"Traceback" not in shown + rest
    assert list(out.parent.iterdir()) == []


def _session_of(leader: int) -> list[str]:
    """The command lines of all processes in the session that `leader` began, without the dead.

    A dead one is listed until its parent awaits it. A parent that lives is listed itself; the system is the
    parent of the others.
    """
    listed = subprocess.run(["ps", "-s", str(leader), "-o", "stat=,args="], capture_output=True, text=True)
    found = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    return [arguments for state, arguments in found if not state.startswith("Z")]


def _wait_for(process: subprocess.Popen[bytes], text: str) -> bytes:
    assert process.stderr is not None
    shown = b""
    while text.encode() not in shown:
        chunk = os.read(process.stderr.fileno(), 65536)
        assert chunk, shown
        shown += chunk
    return shown
