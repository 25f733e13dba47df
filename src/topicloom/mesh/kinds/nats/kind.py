"""NATS, all of it: what the registry holds."""

from __future__ import annotations

from pathlib import Path

from topicloom.mesh.audit.broker_files import ConfiguredBroker, known_hosts
from topicloom.mesh.kinds.kind import LOGIN_OPTIONS, AuditSupport, BrokerKind, RunSupport, Unable
from topicloom.mesh.kinds.nats.audit import judge_nats
from topicloom.mesh.kinds.nats.names import NAMES
from topicloom.mesh.kinds.nats.read import NatsConf, read_nats
from topicloom.mesh.kinds.nats.relocate import relocate_nats
from topicloom.mesh.kinds.nats.write import export_nats
from topicloom.mesh.run.adapter import BrokerAdapter


def _broker(name: str, told: str | None, conf: NatsConf) -> ConfiguredBroker[NatsConf]:
    leaf = [port for port in conf.ports if port.purpose == "leaf"]
    hosts = known_hosts(told, (port.host for port in leaf))
    called = {conf.name.lower()} if conf.name else frozenset()
    return ConfiguredBroker(name, hosts | called, frozenset(port.port for port in leaf), conf)


def _load() -> BrokerAdapter:
    from topicloom.mesh.kinds.nats.adapter import NatsAdapter

    return NatsAdapter()


NATS = BrokerKind(
    name=NAMES.kind,
    title="NATS",
    description="NATS: a server per node, leaf node links, an account per class of topics",
    options=LOGIN_OPTIONS | {"backups"},
    write=export_nats,
    names=NAMES,
    audit=AuditSupport(
        read=lambda path, root: read_nats(path),
        parts_of=lambda conf: map(Path, conf.files),
        broker=_broker,
        has_links=lambda conf: bool(conf.remotes),
        judge=judge_nats,
        no_link="leaf node remote; routes within a cluster are not judged",
        link="leaf node link",
        topic="account",
        called=("nats", "nats-server"),
    ),
    run=RunSupport(_load, relocate_nats, Unable("no probe sees every message that nats carries")),
)
