"""Parts of kernels, made so that a test can call them: Python itself must not."""

from __future__ import annotations

from typing import TypeVar

from topicloom.base.kernels.jit import kernel

F = TypeVar("F")


def called(part: F) -> F:
    """Compile a part as a kernel of its own; without the compiler it is a function already."""
    return kernel(getattr(part, "py_func", part))
