"""Warnings that are about the line of the caller, however deep below it they arise."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

PACKAGE = str(Path(__file__).parents[1])


def warn_caller(text: str) -> None:
    """Warn about the nearest line outside of topicloom."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, stacklevel=level)
