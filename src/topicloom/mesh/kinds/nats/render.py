"""Writing a NATS configuration from its values, as JSON that the server reads."""

from __future__ import annotations

from topicloom.mesh.kinds.nats.config_language import ESCAPES, ConfigValue

_NAMED = {value: f"\\{key}" for key, value in ESCAPES.items()}


def render_nats(tree: ConfigValue, known: frozenset[str] = frozenset()) -> str:
    """The tree as JSON that NATS reads: its escapes are fewer than those of JSON.

    A name that only served as a variable, and does so no longer, is left out: the server would refuse it as
    unknown. `known` are names that are options all the same.
    """
    defined: dict[int, bool] = {}
    _count_uses(tree, defined)
    return _rendered(tree, "", {key for key, used in defined.items() if not used}, known)


def _count_uses(value: ConfigValue, defined: dict[int, bool]) -> None:
    for origin in value.origins:
        defined.setdefault(id(origin), False)
    if value.variable is not None:
        defined[id(value.variable[1])] = True
    elif isinstance(value.data, (dict, list)):
        for entry in value.data.values() if isinstance(value.data, dict) else value.data:
            _count_uses(entry, defined)


def _rendered(value: ConfigValue, indent: str, unused: set[int], known: frozenset[str]) -> str:
    data, deeper = value.data, indent + "  "
    if value.variable is not None:
        return f"${value.variable[0]}"
    if isinstance(data, dict):
        kept = {key: entry for key, entry in data.items() if id(entry) not in unused or key.lower() in known}
        lines = [
            f"{deeper}{_name(key)}: {_rendered(entry, deeper, unused, known)}" for key, entry in kept.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
    if isinstance(data, list):
        lines = [f"{deeper}{_rendered(entry, deeper, unused, known)}" for entry in data]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]" if lines else "[]"
    if isinstance(data, bool):
        return "true" if data else "false"
    return _quoted(data) if isinstance(data, str) else str(data)


def _quoted(text: str) -> str:
    return '"' + "".join(_NAMED.get(c) or (f"\\x{ord(c):02x}" if ord(c) < 32 else c) for c in text) + '"'


def _name(key: str) -> str:
    """The name of an entry: there the server knows no escapes."""
    quote = "'" if '"' in key else '"'
    return f"{quote}{key}{quote}"
