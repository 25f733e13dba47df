"""How fast this machine is beside the one that time models were fitted on: measured once, kept on disk.

Only what is printed depends on it, never what is chosen. This file reads no clock: `cli/calibrate.py` does.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

NAME = "speed.json"
LEAST, MOST = 0.05, 20.0  # a factor beyond that was measured in a bad moment


def kept_folder() -> Path:
    """Return where files lie that save time later: in a virtual environment inside, and they go with it."""
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        return Path(sys.prefix) / "var" / "topicloom"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "topicloom"


def known_speed() -> float | None:
    """Return the seconds that this machine takes for one of the models'; None where nobody measured it."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads((kept_folder() / NAME).read_text())
        factor = float(found["factor"])
        if found["machine"] == _machine() and LEAST <= factor <= MOST:
            return factor
    return None


def keep_speed(factor: float) -> None:
    """Keep a measured factor; where nothing can be kept, the models speak for themselves."""
    path = kept_folder() / NAME
    draft = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"machine": _machine(), "factor": min(max(factor, LEAST), MOST)}))
        draft.replace(path)


def _machine() -> str:
    """Return what tells machines apart that share a folder: the name, and what the processor calls itself."""
    model = platform.machine()
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{platform.node()} {model} {os.cpu_count()}"
