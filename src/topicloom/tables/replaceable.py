"""What a command may write over: nothing, an empty folder, or an earlier result of its own kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from topicloom.errors import InputError


def check_own(out: Path, shown: str, what: str, is_own: Callable[[Path], bool]) -> None:
    """Refuse a folder that holds anything `is_own` does not know; `shown` is how the user wrote it.

    `what` says which earlier result may be replaced.
    """
    try:
        if out.absolute() == Path.cwd():
            raise InputError(f"{shown} is the current folder; name another one")
        if not os.path.lexists(out):
            return
        if not out.is_dir():
            raise InputError(f"{shown} is a file; name a folder that does not exist yet")
        if any(out.iterdir()) and not is_own(out):
            raise InputError(f"{shown} holds something else than {what}; name another folder")
    except OSError as error:
        raise InputError(f"cannot use {shown}: {error.strerror}") from None
