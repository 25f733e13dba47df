"""Hand-written configurations in a folder: which files are brokers, what they are called, who has an address.

A broker is a file *.conf (or *.cfg) of the folder, called by its name; or a folder below with such a file,
called by the folder's name. Files that another one includes are no brokers. An exported folder says all this
in its manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from topicloom.errors import InputError
from topicloom.export.configs.where import ANY_HOST, LOOPBACK, Address
from topicloom.export.hosts import same_host

SUFFIXES = (".conf", ".cfg")
MAIN = ("mosquitto", "nats", "nats-server", "server", "config")
"""Names that say nothing about which broker it is; the folder around it does."""

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Broker(Generic[C]):
    """One broker: its name, the hosts it is known under, the ports it listens on for links."""

    name: str
    hosts: frozenset[str]
    ports: frozenset[int]
    conf: C


def find_configs(folder: Path) -> dict[str, Path]:
    """The files that may be brokers, by the broker's name."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; name one with a configuration for each broker")
    files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    named: dict[str, Path] = {}
    for path in files:
        inside = path.relative_to(folder)
        alone = len([other for other in files if other.parent == path.parent]) == 1
        by_folder = path.parent != folder and (alone or path.stem in MAIN)
        name = inside.parent.as_posix() if by_folder else inside.with_suffix("").as_posix()
        if name in named:
            raise InputError(f"{path} and {named[name]} are both broker {name!r}; rename one of them")
        named[name] = path
    if not named:
        raise InputError(f"{folder} holds no configuration: no file *.conf there or below")
    return named


def read_brokers(
    paths: Mapping[str, Path], read: Callable[[Path], C], files_of: Callable[[C], Iterable[str]]
) -> dict[str, C]:
    """Read them all; those that another one includes are left out. `files_of`: the files of a reading."""
    read_files: dict[str, C] = {}
    faults: dict[str, InputError] = {}
    for name, path in paths.items():
        try:
            read_files[name] = read(path)
        except InputError as error:
            faults[name] = error  # a part of another file need not make sense alone
    included = {
        Path(file).resolve()
        for name, conf in read_files.items()
        for file in files_of(conf)
        if Path(file).resolve() != paths[name].resolve()
    }
    for name, fault in faults.items():
        if paths[name].resolve() not in included:
            raise fault
    return {name: conf for name, conf in read_files.items() if paths[name].resolve() not in included}


class Directory(Generic[C]):
    """Whose an address is."""

    def __init__(self, brokers: Iterable[Broker[C]]) -> None:
        self.brokers = {broker.name: broker for broker in brokers}
        self._by_host: dict[str, list[Broker[C]]] = {}
        for broker in self.brokers.values():
            for host in {same_host(host) for host in broker.hosts}:
                self._by_host.setdefault(host, []).append(broker)

    def named(self, host: str) -> list[Broker[C]]:
        """The brokers on this host: known under it, or called so, whole or up to the first dot."""
        host = same_host(host)
        found = self._by_host.get(host, [])
        if found or host in LOOPBACK:
            return found
        called = [b for b in self.brokers.values() if _last(b.name) == host]
        return called or [b for b in self.brokers.values() if _last(b.name) == host.partition(".")[0]]

    def behind(self, address: Address) -> Broker[C] | None:
        """The broker that listens there, None if no one in the folder does."""
        found = [broker for broker in self.named(address.host) if address.port in broker.ports]
        if not found and address.host in LOOPBACK:
            # All on one machine: the port says who it is.
            free = [b for b in self.brokers.values() if not b.hosts or b.hosts & (LOOPBACK | ANY_HOST)]
            found = [broker for broker in free if address.port in broker.ports]
        if len(found) > 1:
            names = " and ".join(broker.name for broker in found[:2])
            raise address.where.fault(
                f"{address} may be {names}: both listen there; say with --hosts which host is whose"
            )
        return found[0] if found else None


def _last(name: str) -> str:
    return name.rpartition("/")[2].lower()
