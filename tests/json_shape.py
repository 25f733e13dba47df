"""The shape of JSON: one line for each key, with the type of its value; what a golden test compares.

`rows[].name str` is a key of the objects in a list, `by_name{}.size int` one of objects in a mapping whose
keys are data, `name? str` a key that not all of them have or that has another type in some of them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

TYPES = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null"}


def shape(value: Any, data: Collection[str] = ()) -> list[str]:
    """The lines of a value, in its own order; objects under a key of `data` are mappings."""
    return [f"{path or '.'} {kind}" for path, kind in _lines(value, "", data)]


def _lines(value: Any, path: str, data: Collection[str]) -> list[tuple[str, str]]:
    if isinstance(value, list):
        return _merged((_lines(one, f"{path}[]", data) for one in value), f"{path}[]")
    if isinstance(value, dict) and path.rpartition(".")[2] in data:
        return _merged((_lines(one, f"{path}{{}}", data) for one in value.values()), f"{path}{{}}")
    if isinstance(value, dict):
        within = f"{path}." if path else ""
        found = [line for key, one in value.items() for line in _lines(one, f"{within}{key}", data)]
        return found or [(path, "empty")]
    return [(path, TYPES[type(value)])]


def _merged(shapes: Iterable[list[tuple[str, str]]], path: str) -> list[tuple[str, str]]:
    """The lines of all shapes, in the order of their first; a question mark on those that some lack."""
    listed = list(shapes)
    seen = dict.fromkeys(line for lines in listed for line in lines)
    common = [line for line in seen if all(line in lines for lines in listed)]
    return [line if line in common else (f"{line[0].removesuffix('?')}?", line[1]) for line in seen] or [
        (path, "empty")
    ]


def folder_shapes(folder: Path, data: Collection[str] = ()) -> dict[str, list[str]]:
    """The shape of every JSON file in a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): shape(json.loads(path.read_bytes()), data)
        for path in sorted(folder.rglob("*.json"))
    }
