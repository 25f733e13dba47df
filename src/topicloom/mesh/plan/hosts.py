"""Where brokers run: the hosts file, and the ports of every broker on its host."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from topicloom.base.counts import counted
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
    needed: Sequence[str] | None = None,
) -> dict[str, Place]:
    """Read the hosts file: columns node, host and maybe port and `more`; every node once, or those `needed`.

    Rows of other nodes are told by `notice` and not used; `what` a node must be, for that.
    """
    places: dict[str, Place] = {}
    used: dict[tuple[str, int], str] = {}
    for node, place in _rows(path, nodes, notice, what, more):
        if node in places:
            raise InputError(f"{place.where}: node {node!r} has a host already ({_line(places[node].where)})")
        if place.port is not None:
            key = (same_host(place.host), place.port)
            if key in used:
                raise InputError(
                    f"{place.where}: {address(place.host, place.port)} is taken already ({_line(used[key])})"
                )
            used[key] = place.where
        places[node] = place
    _require_all(path, nodes if needed is None else needed, places)
    return places


def read_all_hosts(
    path: Path, nodes: Sequence[str], notice: Callable[[str], None], *, what: str, more: Sequence[str] = ()
) -> dict[str, frozenset[str]]:
    """Read a hosts file in which a node may have several rows: return all hosts of each node."""
    hosts: dict[str, set[str]] = {}
    for node, place in _rows(path, nodes, notice, what, more):
        hosts.setdefault(node, set()).add(place.host)
    _require_all(path, nodes, hosts)
    return {node: frozenset(found) for node, found in hosts.items()}


def _rows(
    path: Path, nodes: Sequence[str], notice: Callable[[str], None], what: str, more: Sequence[str]
) -> Iterator[tuple[str, Place]]:
    """Yield the rows of these nodes; tell about the others."""
    known = set(nodes)
    others: dict[str, str] = {}
    for row in read_rows(path, ("node", "host"), ("port", *more), option="`hosts`", notice=notice):
        node = row.filled("node")
        place = Place(
            _host(row.filled("host"), row.where),
            _port(row["port"], row.where),
            row.where,
            {column: row[column] for column in more if row[column]},
        )
        if node in known:
            yield node, place
        else:
            others.setdefault(node, row.where)
    tell_others(others, what, notice)


def tell_others(others: Mapping[str, str], what: str, notice: Callable[[str], None]) -> None:
    """Tell that rows are not used; `others` are names that are not `what`, with where they stand."""
    if others:
        node, where = next(iter(others.items()))
        rest = counted(len(others) - 1, "other name is", "other names are")
        more = f", nor {rest}" if len(others) > 1 else ""
        notice(f"{where}: {node!r} is not {what}{more}; such rows are not used")


def _require_all(path: Path, nodes: Sequence[str], there: Mapping[str, object]) -> None:
    missing = [node for node in nodes if node not in there]
    if missing:
        rest = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        named = ", ".join(repr(node) for node in missing[:NAMED])
        raise InputError(f"`hosts={path}` has no host for node {named}{rest}; every node needs one")


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
