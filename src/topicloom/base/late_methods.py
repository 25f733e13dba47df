"""Methods of values that need what stands above them: a build cannot prove itself, but it can be saved.

Who can do it says so here; the façade of Python does, and is loaded when such a method is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

GIVEN_BY = "topicloom.api.methods"
_methods: dict[tuple[type, str], Callable[..., Any]] = {}


def give_method(kind: type, name: str, function: Callable[..., Any]) -> None:
    """Let values of this type have this method."""
    _methods[kind, name] = function


def late_method(value: object, name: str) -> Callable[..., Any]:
    """Return the function behind a method of a value."""
    if (type(value), name) not in _methods:
        import_module(GIVEN_BY)
    return _methods[type(value), name]
