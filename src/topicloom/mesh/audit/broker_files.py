"""Hand-written configurations in a folder: which files are brokers, what they are called, who has an address.

A broker is a file *.conf (or *.cfg) of the folder, called by its name; or a folder below with such a file,
called by the folder's name (`site7/mosquitto.conf`, or copied whole, `site7/etc/mosquitto/mosquitto.conf`).
Files that another one includes, and all files of a folder that another one includes, are no brokers. An
exported folder says all this in its manifest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import ANY_HOST, LOOPBACKS, Address, same_host

SUFFIXES = (".conf", ".cfg")
MAIN = ("server", "config")  # names that do not say which broker it is; the folder around it does
SYSTEM = ("etc",)  # folders that are called so on every machine

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class ConfiguredBroker(Generic[C]):
    """One broker: its name, the hosts it is known under, the ports it listens on for links.

    `bound` are the addresses it binds to: it is known under them too, where no other broker is.
    """

    name: str
    hosts: frozenset[str]
    ports: frozenset[int]
    conf: C
    bound: frozenset[str] = frozenset()


def find_configs(folder: Path) -> list[Path]:
    """Return the files that may be brokers."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; name one with a configuration for each broker")
    files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if not files:
        raise InputError(f"{folder} holds no configuration: no file *.conf there or below")
    return files


def read_brokers(
    paths: Iterable[Path], read: Callable[[Path], C], parts_of: Callable[[C], Iterable[Path]]
) -> dict[Path, C]:
    """Read them all but those that others include; `parts_of` are the files and folders of a reading."""
    found: dict[Path, C] = {}
    faults: dict[Path, InputError] = {}
    for path in paths:
        try:
            found[path] = read(path)
        except InputError as error:
            faults[path] = error  # a part of another file need not make sense alone
    parts: dict[Path, set[Path]] = defaultdict(set)  # with who has them
    for path, conf in found.items():
        for part in parts_of(conf):
            parts[part.resolve()].add(path)

    def is_part(path: Path) -> bool:
        whole = path.resolve()
        return bool((parts[whole] | parts[whole.parent]) - {path})

    for path, fault in faults.items():
        if not is_part(path):
            raise fault
    return {path: conf for path, conf in found.items() if not is_part(path)}


def bound_hosts(bound: Iterable[str | None]) -> frozenset[str]:
    """Return the addresses a broker binds to, as far as they are its own."""
    return frozenset(host for host in bound if host is not None and host not in ANY_HOST)


def name_brokers(folder: Path, paths: Iterable[Path], called: Iterable[str] = ()) -> dict[str, Path]:
    """Return the brokers' files by the brokers' names; names in `called` do not tell which broker it is."""
    files = list(paths)
    programs = frozenset(called)
    main, system = programs | set(MAIN), programs | set(SYSTEM)
    beside = Counter(path.parent for path in files)
    named: dict[str, Path] = {}
    for path in files:
        inside = path.relative_to(folder)
        if path.parent != folder and (beside[path.parent] == 1 or path.stem in main):
            inside = inside.parent
            while inside.name in system and len(inside.parts) > 1:
                inside = inside.parent
        else:
            inside = inside.with_suffix("")
        name = inside.as_posix()
        if name in named:
            raise InputError(f"{path} and {named[name]} are both broker {name!r}; rename one of them")
        named[name] = path
    return named


class BrokerDirectory(Generic[C]):
    """Finds the broker behind an address, whichever of its addresses that is.

    `one_way_ok`: links that carry a topic in one direction only are meant so.
    """

    def __init__(self, brokers: Iterable[ConfiguredBroker[C]], *, one_way_ok: bool = False) -> None:
        self.brokers = {broker.name: broker for broker in brokers}
        self.one_way_ok = one_way_ok
        self._by_host: dict[str, list[ConfiguredBroker[C]]] = {}
        self._by_bound: dict[str, list[ConfiguredBroker[C]]] = {}
        for broker in self.brokers.values():
            for hosts, index in ((broker.hosts, self._by_host), (broker.bound, self._by_bound)):
                for host in {same_host(host) for host in hosts}:
                    index.setdefault(host, []).append(broker)

    def named(self, host: str) -> list[ConfiguredBroker[C]]:
        """Return the brokers on this host: known under it, or called so, whole or up to the first dot."""
        host = same_host(host)
        found = self._by_host.get(host) or self._by_bound.get(host, [])
        if found or host in LOOPBACKS:
            return found
        called = [b for b in self.brokers.values() if _last(b.name) == host]
        return called or [b for b in self.brokers.values() if _last(b.name) == host.partition(".")[0]]

    def behind(self, address: Address) -> ConfiguredBroker[C] | None:
        """Return the broker that listens there, None if no one in the folder does."""
        found = [broker for broker in self.named(address.host) if address.port in broker.ports]
        if not found and address.host in LOOPBACKS:
            # All on one machine: the port says who it is.
            free = [b for b in self.brokers.values() if not b.hosts or b.hosts & (LOOPBACKS | ANY_HOST)]
            found = [broker for broker in free if address.port in broker.ports]
        if len(found) > 1:
            names = " and ".join(broker.name for broker in found[:2])
            raise address.where.fault(
                f"{address} may be {names}: both listen there; say with `hosts` which host is whose"
            )
        return found[0] if found else None

    def first_behind(self, addresses: Iterable[Address]) -> ConfiguredBroker[C] | None:
        """Return the broker behind the first of these addresses that somebody in the folder has."""
        return next((found for address in addresses if (found := self.behind(address)) is not None), None)


def _last(name: str) -> str:
    return name.rpartition("/")[2].lower()
