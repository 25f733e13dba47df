"""A mesh of brokers as it is deployed: who runs where, who dials whom, what each topic is called there.

This is what the manifest of an exported folder holds. Values only, by name and not by number, so that it can
be read without the interest it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MeshNode:
    """One node's broker: its host, its ports by purpose, its files within the folder.

    Ports: mosquitto `mqtt`; nats `client`, `leaf`, `monitor`; zenoh one for each account, by its name.
    """

    name: str
    host: str
    ports: Mapping[str, int]
    configs: tuple[str, ...]
    user: str | None = None


@dataclass(frozen=True, slots=True)
class MeshLink:
    """One connection between two brokers, opened by `dialer`; `name` is unique in the mesh."""

    name: str
    dialer: str
    acceptor: str
    topics: tuple[str, ...]
    account: str | None = None
    backups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeshTopic:
    """One topic: what the target calls it, the account its clients log in to, who wants it."""

    topic: str
    name: str
    subscribers: tuple[str, ...]
    account: str | None = None


@dataclass(frozen=True, slots=True)
class Mesh:
    """All brokers of one deployment. `start_order`: accepting brokers first, as far as that is possible."""

    kind: str
    nodes: tuple[MeshNode, ...]
    links: tuple[MeshLink, ...]
    topics: tuple[MeshTopic, ...]
    start_order: tuple[str, ...]
    accounts: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)  # such as tls: the folder of certificates
