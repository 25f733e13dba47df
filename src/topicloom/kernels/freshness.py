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

TAKES = re.compile(r"^\s*from topicloom\.kernels\.(\w+) import", re.MULTILINE)


def keep_fresh(compiled: object, function: Callable[..., object]) -> None:
    """Have the cache of a compiled kernel judged by all files that its code comes from."""
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is not None:  # there is none while compilation is switched off
        file._source_stamp = stamp_of(Path(function.__code__.co_filename))


@cache
def stamp_of(path: Path) -> str:
    """A digest of this file and all kernels' files that it takes from, near or far."""
    digest = hashlib.sha256()
    for name, text in sorted(_sources(path).items()):
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def _sources(path: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    waiting = [path]
    while waiting:
        one = waiting.pop()
        if one.name not in found and one.is_file():
            found[one.name] = one.read_bytes()
            names = TAKES.findall(found[one.name].decode())
            waiting += [one.with_name(f"{name}.py") for name in names]
    return found
