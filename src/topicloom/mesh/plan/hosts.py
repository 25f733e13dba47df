"""Where brokers run: the hosts file, and the ports of every broker on its host."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import address, same_host
from topicloom.tables.small_csv import read_rows

MAX_PORT = 65535
NAMED = 3  # nodes named in a sentence about missing ones


@dataclass(frozen=True, slots=True)
class Place:
    """The host of a node and, if the user chose it, the port that clients use; `where` it was said.

    `more` has the columns that only some kinds of brokers read, where they are filled.
    """

    host: str
    port: int | None = None
    where: str = ""
    more: Mapping[str, str] = field(default_factory=dict)


def read_hosts(
    path: Path,
    nodes: Sequence[str],
    notice: Callable[[str], None] = lambda text: None,
    *,
    what: str = "a node of the build",
    more: Sequence[str] = (),
) -> dict[str, Place]:
    """Read the hosts file: columns node, host and maybe port and `more`; every node once, no other nodes.

    `what` a node must be, for the message about one that is not.
    """
    known = set(nodes)
    places: dict[str, Place] = {}
    used: dict[tuple[str, int], str] = {}
    for row in read_rows(path, ("node", "host"), ("port", *more), option="`hosts`", notice=notice):
        node = row.filled("node")
        if node not in known:
            raise InputError(f"{row.where}: {node!r} is not {what}")
        if node in places:
            raise InputError(f"{row.where}: node {node!r} has a host already ({_line(places[node].where)})")
        place = Place(
            _host(row.filled("host"), row.where),
            _port(row["port"], row.where),
            row.where,
            {column: row[column] for column in more if row[column]},
        )
        if place.port is not None:
            key = (same_host(place.host), place.port)
            if key in used:
                raise InputError(
                    f"{row.where}: {address(place.host, place.port)} is taken already ({_line(used[key])})"
                )
            used[key] = row.where
        places[node] = place
    missing = [node for node in nodes if node not in places]
    if missing:
        rest = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        named = ", ".join(repr(node) for node in missing[:NAMED])
        raise InputError(f"`hosts={path}` has no host for node {named}{rest}; every node needs one")
    return places


def assign_ports(
    places: Mapping[str, Place], needs: Mapping[str, Sequence[tuple[str, int]]]
) -> dict[str, dict[str, int]]:
    """Assign ports by purpose to each node: those the user chose, otherwise successive ones from each base.

    `needs` lists for each node (purpose, base port); the chosen port is that of the first purpose.

    >>> assign_ports({"a": Place("h"), "b": Place("h")}, {"a": [("mqtt", 1883)], "b": [("mqtt", 1883)]})
    {'a': {'mqtt': 1883}, 'b': {'mqtt': 1884}}
    """
    taken: dict[str, set[int]] = {}
    for place in places.values():
        chosen = taken.setdefault(same_host(place.host), set())
        if place.port is not None:
            chosen.add(place.port)
    cursors: dict[tuple[str, int], int] = {}
    found: dict[str, dict[str, int]] = {}
    for node, purposes in needs.items():
        place = places[node]
        host = same_host(place.host)
        ports = found.setdefault(node, {})
        for rank, (purpose, base) in enumerate(purposes):
            if rank == 0 and place.port is not None:
                ports[purpose] = place.port
                continue
            port = cursors.get((host, base), base)
            while port in taken[host]:
                port += 1
            if port > MAX_PORT:
                raise InputError(f"host {place.host} has no free port left from {base} on for node {node!r}")
            cursors[host, base] = port + 1
            taken[host].add(port)
            ports[purpose] = port
    return found


def bind_host(host: str) -> str:
    """Return what a broker on this host should listen on: a loopback address, else every address.

    The address others dial may belong to a router or a cloud's front door and not to the machine.
    """
    return host if is_loopback(host) else "::" if ":" in host else "0.0.0.0"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _host(text: str, where: str) -> str:
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        if len(text) > 253 or not re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?", text):
            hint = "names are letters, digits, dots and hyphens"
            if re.fullmatch(r"[^:]+:[0-9]+", text):
                hint = "give the port in a column of its own, port"
            raise InputError(f"{where}: host {text!r} is neither a name nor an address; {hint}") from None
        if re.fullmatch(r"[0-9.]+", text):
            raise InputError(f"{where}: host {text!r} is no IPv4 address") from None
        return text
    if found.is_unspecified:
        raise InputError(f"{where}: host {text} cannot be dialled; name the address others reach it by")
    if getattr(found, "scope_id", None):
        raise InputError(f"{where}: host {text} has a zone, which only means something on one machine")
    return str(found)


def _port(text: str, where: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= MAX_PORT:
        raise InputError(f"{where}: port {text!r} is not a number from 1 to {MAX_PORT}")
    return int(text)


def _line(where: str) -> str:
    return where[where.rindex("line ") :]
