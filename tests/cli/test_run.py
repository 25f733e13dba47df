"""`topicloom run` as a real process: its keys and exit codes, and that nothing outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

from brokers_present import needs_mosquitto
from hand_mesh import INTEREST, LINKS, write_hand_mesh
from topicloom.cli.main import execute

COMMAND = [sys.executable, "-m", "topicloom", "run"]
KEYS = [
    "kind", "nodes", "links", "connections_per_node_max", "topics", "published", "expected", "delivered",
    "duplicates", "strays", "seconds_ready", "hops_max",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    write_hand_mesh(tmp_path / "mesh", INTEREST, LINKS)
    return tmp_path / "mesh"


@pytest.fixture
def run(capsys):
    """The command in this process: exit code, stdout and stderr."""

    def go(*arguments: object) -> tuple[int, str, str]:
        code = execute(["run", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return go


@needs_mosquitto
def test_json_begins_with_the_promised_keys_and_stands_alone(folder):
    options = ["--messages", "2", "--settle", "0.2", "--json"]
    done = subprocess.run(
        [*COMMAND, "mosquitto", folder, *options], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert list(summary)[: len(KEYS)] == KEYS
    assert (summary["published"], summary["expected"], summary["delivered"]) == (8, 20, 20)


@needs_mosquitto
def test_people_read_a_table_and_a_verdict(folder, run):
    code, out, _ = run("mosquitto", folder, "--messages", 1, "--settle", 0.2)
    assert code == 0
    assert "delivered" in out
    assert "proved: every subscriber got every message exactly once" in out


@needs_mosquitto
def test_a_mesh_that_is_not_exact_exits_1_with_witnesses(folder, run):
    conf = folder / "c.conf"
    conf.write_text(conf.read_text() + "topic t/y both 1\n")
    code, out, _ = run("mosquitto", folder, "--messages", 1, "--settle", 0.2)
    assert code == 1
    assert "stray: c carried 1 messages on y" in out
    assert "NOT exact: 0 deliveries missing, 0 duplicates, 1 strays" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["carrier-pigeon", "{folder}"], "cannot run carrier-pigeon"),
        (["mosquitto", "{folder}/nowhere"], "nowhere is not an export"),
        (["nats", "{folder}"], "exported for mosquitto"),
        (["mosquitto", "{folder}", "--kill", "nobody"], "--kill nobody"),
        (["mosquitto", "{folder}", "--messages", "0"], "--messages"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_exit_2(folder, run, arguments, told):
    code, out, err = run(*(text.format(folder=folder) for text in arguments))
    assert (code, out) == (2, "")
    assert told in err
    assert err.startswith("topicloom: ")
    assert err.count("\n") == 1


def test_a_mesh_that_nothing_runs_is_not_sent_to_another_command(folder, run):
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"kind": "mosquitto"', '"kind": "gossipsub"'))
    code, _, err = run("mosquitto", folder)
    assert code == 2 and "cannot run gossipsub: its nodes are programs of your own" in err


@needs_mosquitto
@pytest.mark.parametrize(
    ("brokers", "sent"),
    [
        (1, signal.SIGINT),
        (1, signal.SIGKILL),
        (4, signal.SIGINT),
        (4, signal.SIGTERM),
        (4, signal.SIGHUP),
        (4, signal.SIGKILL),
    ],
)
def test_no_broker_outlives_it(folder, tmp_path, brokers, sent):
    """Whatever ends it, and whether it is still starting brokers or waits for strays."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "mosquitto", str(folder), "--settle", "60"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch)},
        # In the background of a shell we ignore Ctrl-C; the command must not inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    children = _children(process, brokers)
    process.send_signal(sent)
    told = process.communicate(timeout=60)[1]
    deadline = time.monotonic() + 60
    while any(_lives(child) for child in children) or _with_folder_of(children):
        assert sent == signal.SIGKILL, "a broker is left"  # then the kernel does it, a moment later
        assert time.monotonic() < deadline, "a broker is left"
        time.sleep(0.02)
    if sent != signal.SIGKILL:
        assert process.returncode == 130, told
        assert told.startswith(b"topicloom: interrupted"), told
        assert told.count(b"\n") == 1, told
        assert not list(scratch.iterdir()), "its temporary folder is left"


def _lives(child: psutil.Process) -> bool:
    try:
        return child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it went between the two questions
        return False


def _children(process: subprocess.Popen[bytes], least: int) -> list[psutil.Process]:
    deadline = time.monotonic() + 60
    found: list[psutil.Process] = []
    while len(found) < least:
        assert time.monotonic() < deadline
        assert process.poll() is None
        with suppress(psutil.NoSuchProcess):  # one that went while we looked: look again
            found = [child for child in psutil.Process(process.pid).children() if "mosquitto" in child.name()]
    return found


def _with_folder_of(children: list[psutil.Process]) -> list[int]:
    """Brokers that came after we looked would have the same parent, which is gone: none may be an orphan."""
    known = {child.pid for child in children}
    return [
        one.pid
        for one in psutil.process_iter(["pid", "ppid", "name", "cwd"])
        if one.info["name"] == "mosquitto"
        and one.info["pid"] not in known
        and "topicloom-run-" in (one.info["cwd"] or "")
        and one.info["ppid"] in (1, os.getpid())
    ]


def test_a_message_missing_at_rest_is_not_called_doubled_or_lost_on_the_way() -> None:
    """It said that messages came twice or were lost on topics that should not be touched."""
    from topicloom.cli.run_rollout import _told
    from topicloom.mesh.run.rollout_play import PlayedRollout

    counts = dict.fromkeys(("states", "restarted", "reloaded", "published", "delivered", "duplicates"), 0)
    played = PlayedRollout(
        kind="nats", turned_back=False, nodes=2, **counts, lost=0, lost_unplanned=0, missing=1,
        unplanned=[], seconds=1.0, exact_at_the_end=True, exact=False,
    )  # fmt: skip
    assert _told(played) == "NOT as planned: messages were missing although no broker was away"
