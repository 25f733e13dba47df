"""Command lines that a page shows: options by the names of their fields, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from topicloom.base.parameters import Parameter

DASHES = 2 * "-"


def command_line(*words: object, **options: object) -> str:
    """Return a command of topicloom; an option with a list is repeated, one that is True is a flag.

    >>> command_line("build", "my table", algorithm="gm", set=["k=3"], certify=True, costs=None)
    "topicloom build 'my table' --algorithm gm --set k=3 --certify"
    """
    line = ["topicloom", *(shlex.quote(str(word)) for word in words)]
    for name, value in options.items():
        option = DASHES + name.replace("_", "-")
        if value is True:
            line.append(option)
        elif value is not None:
            for one in value if isinstance(value, list) else [value]:
                line += [option, shlex.quote(str(one))]
    return " ".join(line)


def settings(parameters: Mapping[str, Any], known: Mapping[str, Parameter]) -> list[str]:
    """Return parameters as `key=value` where they are not the default; others were not set by hand.

    >>> settings({"k": 3, "strict": False, "digest": "x"}, {"k": Parameter("", default=2)})
    ['k=3']
    """
    return [
        f"{name}={shown(value)}"
        for name, value in parameters.items()
        if name in known and known[name].default != value and isinstance(value, bool | int | float | str)
    ]


def shown(value: Any) -> str:
    """Write a parameter as JSON has it, strings without their quotes."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
