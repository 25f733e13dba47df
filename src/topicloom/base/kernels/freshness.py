"""When cached machine code is out of date: as soon as a kernel's file, or one that it takes from, changes.

numba looks at the kernel's own file only. A kernel that calls one of another file holds that one's code
inside and would go on with what it was: after an upgrade the same table could give other edges on two
machines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = "topicloom"
HERE = Path(__file__).parents[2]  # for kernels that are not of the package
TAKES = re.compile(rf"^\s*from {ROOT}\.((?:\w+\.)*kernels\.\w+) import", re.MULTILINE)


def keep_fresh(compiled: object, function: Callable[..., object]) -> None:
    """Have the cache of a compiled kernel judged by all files that its code comes from."""
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is not None:  # there is none while compilation is switched off
        file._source_stamp = stamp_of(Path(function.__code__.co_filename))
        # An index of another version is not unpickled: it may name a class that has another name now.
        file._version = f"{file._version} {file._source_stamp}"


@cache
def stamp_of(path: Path) -> str:
    """A digest of this file and all kernels' files that it takes from, near or far."""
    digest = hashlib.sha256()
    for name, text in sorted(_sources(path).items()):
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def _sources(path: Path) -> dict[str, bytes]:
    """The files by their place in the package: two products may have kernels of one name."""
    package = next((folder for folder in path.parents if _is_package(folder)), HERE)
    found: dict[str, bytes] = {}
    waiting = [path]
    while waiting:
        one = waiting.pop()
        name = one.relative_to(package).as_posix() if one.is_relative_to(package) else one.name
        if name not in found and one.is_file():
            found[name] = one.read_bytes()
            taken = TAKES.findall(found[name].decode())
            waiting += [package.joinpath(*module.split(".")).with_suffix(".py") for module in taken]
    return found


def _is_package(folder: Path) -> bool:
    """A copy of this package, and not a checkout of the same name around it."""
    return folder.name == ROOT and (folder / "base" / "kernels").is_dir()
