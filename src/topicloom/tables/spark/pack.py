"""Packs what Spark's workers need into one archive: this package, what its tasks import, warm kernels.

The archive is made from the environment that runs, without a network. It holds

    topicloom-pack.json   what was packed, see `pack_manifest.py`
    bin/python            a script: the worker's own Python of the same version, with these packages
    site-packages/        the packages

pyspark is not in it: a worker has Spark, and Spark brings its own.
"""

from __future__ import annotations

import gzip
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.summaries import Seconds, Summary, plain
from topicloom.errors import InputError, UsageError
from topicloom.tables.spark.pack_manifest import (
    FORMAT,
    MANIFEST,
    SUFFIXES,
    PackManifest,
    package_folder,
    python_name,
    source_digest,
)
from topicloom.version import __version__

# What tasks import, here or in pyspark's worker; what these need comes along.
ROOTS = ("msgspec", "numba", "numpy", "pyarrow")
# Every file's time of change: the same content gives the same archive, and caches that look at the time
# (Python's, and numba's before 0.68) stay good when the archive is unpacked where fractions are lost.
WHOLE_SECOND = 1_577_836_800
_LEFT_OUT_FOLDERS = {"__pycache__", "include", "tests"}
_LEFT_OUT_SUFFIXES = {".a", ".c", ".cpp", ".h", ".pxd", ".pyc", ".pyi", ".pyx"}
_LEFT_OUT_PARTS = re.compile(r"pyarrow/.*flight")  # large, and nothing else in pyarrow needs it
_KERNEL_CACHE = {".nbc", ".nbi"}

_LAUNCHER = """#!/bin/sh
# The worker's own {python}, with the packages that lie beside this script in front of all others.
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd) || exit 127
python=$(command -v {python}) || {{
    echo "topicloom: no {python} on the PATH of this worker" >&2
    exit 127
}}
PYTHONPATH="$here/site-packages${{PYTHONPATH:+:$PYTHONPATH}}"
export PYTHONPATH
exec "$python" "$@"
"""

_WARM = """
import sys
from {module} import {name} as warm
warm()
print(*(getattr(module, "__file__", None) for module in list(sys.modules.values())), sep="\\n")
"""


class PackReport(Summary, frozen=True):
    """What `topicloom pack --json` prints."""

    manifest: PackManifest
    path: str
    bytes: int
    seconds: Seconds

    FLAT = frozenset({"manifest"})


def pack_environment(out: Path, warm: Callable[[], None], *, progress: Progress = SILENT) -> PackReport:
    """Write the archive, with the kernels compiled that `warm` runs; what is in it, and its size."""
    if not out.name.endswith(SUFFIXES):
        raise UsageError(f"{out}: the name must end in {' or '.join(SUFFIXES)}, so that Spark unpacks it")
    if out.is_dir():
        raise UsageError(f"{out} is a folder; name a file")
    start = progress.now()
    with replacing(out) as draft, tempfile.TemporaryDirectory(prefix="topicloom-pack-") as folder:
        draft.touch()  # a target that cannot be written is told before the work, not after
        tree = Path(folder)
        manifest = _fill(tree, progress)
        _warm(tree, warm, progress)
        _write_archive(tree, draft, progress)
        size = draft.stat().st_size
    return PackReport(manifest, str(out), size, {"total": progress.now() - start})


# --- the tree ------------------------------------------------------------------------------------------


def _fill(tree: Path, progress: Progress) -> PackManifest:
    found = _distributions()
    files = [*_own_files(), *(file for one in found for file in _files_of(one))]
    progress.phase("pack: copy packages", len(files))
    packages = tree / "site-packages"
    for source, inside in files:
        check_stop(progress)
        target = packages / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        os.utime(target, (WHOLE_SECOND, WHOLE_SECOND))
        progress.advance()
    launcher = tree / "bin" / "python"
    launcher.parent.mkdir()
    launcher.write_text(_LAUNCHER.format(python=python_name()))
    launcher.chmod(0o755)
    manifest = PackManifest(
        format=FORMAT,
        python=python_name(),
        platform=sysconfig.get_platform(),
        topicloom=__version__,
        source=source_digest(),
        packages={one.name: one.version for one in found},
    )
    (tree / MANIFEST).write_text(json.dumps(plain(manifest), indent=1) + "\n")
    return manifest


def _distributions() -> list[Distribution]:
    """Return the roots and what they need, by name."""
    found: dict[str, Distribution] = {}
    wanted = list(ROOTS)
    while wanted:
        name = re.sub(r"[-_.]+", "-", wanted.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            raise InputError(f"the Python package {name} is missing here, and the workers need it") from None
        wanted += _needed_by(found[name])
    return [found[name] for name in sorted(found)]


def _needed_by(one: Distribution) -> Iterator[str]:
    for line in one.requires or ():
        requirement, _, condition = line.partition(";")
        name = re.match(r"[\w.\-]+", requirement.strip())
        # A condition is about extras, which no task needs, or about a Python that may not be this one.
        if name and (
            not condition or ("extra" not in condition and any(Distribution.discover(name=name[0])))
        ):
            yield name[0]


def _own_files() -> Iterator[tuple[Path, Path]]:
    """Yield this package's files where they really are, also when it is installed as a link."""
    root = package_folder()
    for path in sorted(root.rglob("*")):
        # Machine code that is there already need not be compiled again.
        if path.is_file() and ("__pycache__" not in path.parts or path.suffix in _KERNEL_CACHE):
            yield path, Path("topicloom") / path.relative_to(root)


def _files_of(one: Distribution) -> Iterator[tuple[Path, Path]]:
    if one.files is None:
        raise InputError(f"the Python package {one.name} has no list of its files; install it with pip")
    for file in one.files:
        inside = Path(file)
        if inside.is_absolute() or ".." in inside.parts or _LEFT_OUT_FOLDERS & set(inside.parts):
            continue
        if inside.suffix in _LEFT_OUT_SUFFIXES or _LEFT_OUT_PARTS.match(inside.as_posix()):
            continue
        path = Path(str(one.locate_file(file)))
        if path.is_file():
            yield path, inside


def _warm(tree: Path, warm: Callable[[], None], progress: Progress) -> None:
    """Run the tasks' kernels by the packed Python: it compiles what is missing, and shows that it works."""
    progress.phase("pack: compile kernels")
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    path = os.pathsep.join([str(Path(sys.base_prefix) / "bin"), os.environ.get("PATH", "/usr/bin:/bin")])
    ours = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_DEBUG_CACHE": "1"}
    answer = subprocess.run(
        # Only what the archive has may be found, as on a worker: no packages of this machine's Python (-S).
        [str(tree / "bin" / "python"), "-S", "-c", _WARM.format(module=warm.__module__, name=warm.__name__)],
        env={**kept, **ours, "PATH": path},
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        said = answer.stderr.strip().splitlines()
        raise InputError(f"the packed Python does not run: {said[-1] if said else 'no reason given'}")
    used = set(re.findall(r"'([^']+\.nb[ci])'", answer.stdout))
    for cached in tree.rglob("*.nb[ci]"):
        # What came along from here is of all builders, and of earlier states of the code.
        if str(cached) not in used:
            cached.unlink()
    for line in answer.stdout.splitlines():
        if line.startswith(f"{tree}{os.sep}") and line.endswith(".py"):
            # Byte code as Python would have written it, but without the name of a temporary folder inside.
            py_compile.compile(line, dfile=str(Path(line).relative_to(tree)))


# --- the archive ---------------------------------------------------------------------------------------


def _write_archive(tree: Path, out: Path, progress: Progress) -> None:
    # The manifest is the first file.
    inside = {path.relative_to(tree).as_posix(): path for path in tree.rglob("*") if path.is_file()}
    paths = [inside[name] for name in sorted(inside, key=lambda name: (name != MANIFEST, name))]
    progress.phase("pack: write archive", sum(path.stat().st_size for path in paths))
    # The least compression: most of it is machine code, which hardly shrinks further, and workers wait.
    with (
        out.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in paths:
            check_stop(progress)
            member = tarfile.TarInfo(path.relative_to(tree).as_posix())
            member.size = path.stat().st_size
            member.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            member.mtime = WHOLE_SECOND
            with path.open("rb") as content:
                archive.addfile(member, content)
            progress.advance(member.size)
