"""JSON objects as types: what commands print and write, and how it goes into JSON and back.

A summary is a `msgspec.Struct`: its fields are the keys, in their order, and a field that is UNSET is no key
at all. A field named in `FLAT` is written as if its own keys stood in its place: so figures by name, of which
there may be more tomorrow, and parts that several summaries share need no field each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from topicloom.base.notebook import html_table, text_table
from topicloom.version import __version__

__all__ = [
    "FORMAT", "UNSET", "Figures", "Head", "Parameters", "Report", "ResultSummary", "Seconds", "Summary",
    "Total", "UnsetType", "plain", "to_json",
]  # fmt: skip

ONE_LINE = 6  # so many keys are shown in one line at the prompt; more are a table
FORMAT = 1  # of every JSON file that topicloom writes; a reader refuses others
Seconds: TypeAlias = dict[str, float]  # how long each phase took, by its name, with the `total`
# The parameters of an algorithm by name, as its registry describes them.
Parameters: TypeAlias = Mapping[str, Any]
Figures: TypeAlias = dict[str, Any]  # measures by their names in the registry, as plain values
Report: TypeAlias = Mapping[str, Any]  # what an algorithm says of its own work: each has keys of its own


class Summary(msgspec.Struct, frozen=True):
    """A JSON object of known keys."""

    FLAT: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        found, name = plain(self), type(self).__name__
        if len(found) > ONE_LINE:
            return text_table(name, found)
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in found.items())})"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, plain(self))


class Head(Summary, frozen=True):
    """What every file says of itself first; all that is needed to tell whose it is."""

    format: int
    kind: str


class ResultSummary(Summary, frozen=True, kw_only=True):
    """The content of a summary.json: what it is comes first. Each kind of result sets its `kind`."""

    format: int = FORMAT
    kind: str
    version: str = __version__


class Total(Summary, frozen=True):
    """Of work of which there is nothing to say but how long it took."""

    seconds: Seconds


def plain(value: Any) -> Any:
    """Return a summary as dictionaries and lists, flat where it says so; other values as they are.

    >>> class Row(Summary, frozen=True):
    ...     name: str
    ...     figures: dict[str, int]
    ...     remark: str | UnsetType = UNSET
    ...     FLAT = frozenset({"figures"})
    >>> plain([Row(name="a", figures={"x": 1})])
    [{'name': 'a', 'x': 1}]
    """
    if isinstance(value, Summary):
        found: dict[str, Any] = {}
        for name, key in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            part = getattr(value, name)
            if part is not UNSET:
                found |= plain(part) if name in value.FLAT else {key: plain(part)}
        return found
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def to_json(value: Any) -> bytes:
    """Return one line of JSON."""
    return msgspec.json.encode(plain(value))
