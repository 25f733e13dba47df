"""Façades whose names are loaded when first used: importing one compiles no kernel and starts nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package; `homes` says in which module each name lives.

    A module is one of the package, or named in full; one that is its own home is meant itself.

    >>> get, names = lazy_names("topicloom.base", {"stream_key": "seeds"})
    >>> get("stream_key").__module__, names()
    ('topicloom.base.seeds', ['stream_key'])
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home == name:
            return import_module(f"{package}.{name}")
        return getattr(import_module(home if home.startswith("topicloom.") else f"{package}.{home}"), name)

    return get, lambda: sorted(homes)
