"""Interest in, overlay out. One file per algorithm; `registry.py` lists them.

The parts of divide and conquer (paper 000) can be used by themselves:

    from topicloom.builders import split_bulk, choose_representatives, combine_overlays

They are loaded when first used, so that importing this package compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicloom.builders.divide.combine import combine_overlays
    from topicloom.builders.divide.rep_set import choose_representatives
    from topicloom.builders.divide.split import split_bulk

__all__ = ["choose_representatives", "combine_overlays", "split_bulk"]

_HOMES = {"choose_representatives": "rep_set", "combine_overlays": "combine", "split_bulk": "split"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topicloom.builders' has no attribute {name!r}")
    return getattr(import_module(f"topicloom.builders.divide.{_HOMES[name]}"), name)
