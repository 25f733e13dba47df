"""Addresses such as `s3a://bucket/x`, which only Spark understands, and paths of this machine."""

from __future__ import annotations

import os
import re

from topicloom.errors import UsageError

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]+):/")


def is_address(path: str) -> bool:
    """Return whether this is an address such as `s3a://...`, and not a path of this machine."""
    return _SCHEME.match(path) is not None


def refuse_address(path: str | os.PathLike[str], shown: str | None = None) -> None:
    """Refuse an address where only a path of this machine can be used; `shown` is how the user wrote it.

    As a path it would name a folder `s3a:` here. `pathlib` has made one slash of two by then.
    """
    text = os.fspath(path)
    if is_address(text):
        whole = re.sub(r"^([^:/]+):/(?!/)", r"\1://", text)
        shown = (shown or text).replace(text, whole)
        raise UsageError(
            f"{shown} is an address, and here only a path of this machine can be used: name a folder or file "
            "of it, and copy the result"
        )
