"""Knows a packed environment (see `pack.py`) when it sees one, and which Python the workers should run."""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import field

import topicloom
from topicloom.base.summaries import Summary
from topicloom.errors import UsageError

MANIFEST = "topicloom-pack.json"  # the first file in the archive: a look at the first bytes tells what it is
FORMAT = 1
ARCHIVES = "spark.archives"
PYTHON = "spark.pyspark.python"
SUFFIXES = (".tar.gz", ".tgz")


class PackManifest(Summary, frozen=True, kw_only=True):
    """What an archive says of itself; what an older one does not say has its default."""

    format: object = None
    python: str = "another Python"
    platform: str = ""
    topicloom: str = ""
    source: object = None
    packages: dict[str, str] = field(default_factory=dict)


def python_name() -> str:
    """Return how the workers must call the Python of this process: pickles do not travel between versions.

    >>> python_name().startswith("python3.")
    True
    """
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def source_digest() -> str:
    """Return a digest of this package's code, wherever it is installed."""
    root = package_folder()
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def worker_python(settings: Mapping[str, str]) -> str | None:
    """Return the Python that tasks on a cluster run, as far as `settings` tell; None leaves it to Spark.

    An archive is unpacked into the folder where an executor runs, under the name after `#` or its own.
    """
    archives = list(_archives(settings.get(ARCHIVES, "")))
    for shown, path, _ in archives:
        if path is not None and not path.is_file():
            raise UsageError(f"no such file: {shown}, named by {ARCHIVES}")
    if PYTHON in settings:
        return settings[PYTHON]
    if os.environ.get("PYSPARK_PYTHON"):
        return os.environ["PYSPARK_PYTHON"]
    for shown, path, name in archives:
        manifest = None if path is None else read_manifest(path)
        if manifest is not None:
            _check_fits(shown, manifest)
            return f"./{name}/bin/python"
    return None


def read_manifest(path: Path) -> PackManifest | None:
    """Return what `topicloom pack` says about its archive; None for any other file."""
    if not path.name.endswith(SUFFIXES):
        return None
    try:
        with tarfile.open(path, "r:gz") as archive:
            first = archive.next()
            content = archive.extractfile(first) if first is not None and first.name == MANIFEST else None
            return None if content is None else msgspec.json.decode(content.read(), type=PackManifest)
    except (OSError, EOFError, tarfile.TarError, ValueError, msgspec.MsgspecError):
        return None


def _archives(setting: str) -> Iterator[tuple[str, Path | None, str]]:
    """Yield of each archive what the user wrote, its path if local, and its name on the workers."""
    for entry in filter(None, (part.strip() for part in setting.split(","))):
        shown, _, alias = entry.partition("#")
        parts = urlsplit(shown)
        path = Path(unquote(parts.path)) if parts.scheme == "file" else Path(shown)
        yield (
            shown,
            None if "://" in shown and parts.scheme != "file" else path,
            alias or Path(parts.path).name,
        )


def _check_fits(shown: str, manifest: PackManifest) -> None:
    """Refuse an archive whose tasks could not read our pickles, or would run other code than this."""
    if manifest.format == FORMAT and manifest.python == python_name():
        if manifest.source == source_digest():
            return
        reason = "holds another state of topicloom than the one that runs here"
    else:
        reason = f"is for {manifest.python}, and {python_name()} runs here"
    raise UsageError(f"{shown} {reason}: make it anew with `topicloom pack {shown}`")


def package_folder() -> Path:
    """Return where this package's files really are, also when it is installed as a link to its sources."""
    return Path(topicloom.__file__).resolve().parent
