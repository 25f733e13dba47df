"""NATS as an entry of the registry."""

from __future__ import annotations

from pathlib import Path

from topicloom.mesh.audit.broker_files import ConfiguredBroker, bound_hosts
from topicloom.mesh.kinds.kind import LOGIN_OPTIONS, AuditSupport, BrokerKind, RunSupport, Unable
from topicloom.mesh.kinds.nats.audit import audit_nats
from topicloom.mesh.kinds.nats.read import NatsConf, read_nats
from topicloom.mesh.kinds.nats.relocate import relocate_nats
from topicloom.mesh.kinds.nats.write import LAYOUT, NAMES, export_nats


def _broker(name: str, told: frozenset[str], conf: NatsConf) -> ConfiguredBroker[NatsConf]:
    leaf = [port for port in conf.ports if port.purpose == "leaf"]
    bound = bound_hosts(port.host for port in leaf)
    called = {conf.name.lower()} if conf.name else frozenset()
    ports = frozenset(port.port for port in leaf)
    return ConfiguredBroker(name, (told or bound) | called, ports, conf, bound)


NATS = BrokerKind(
    name=NAMES.kind,
    title="NATS",
    description="NATS: a server per node, leaf node links, an account per class of topics",
    options=LOGIN_OPTIONS | {"backups"},
    write=export_nats,
    names=NAMES,
    layout=LAYOUT,
    cannot={
        "trees": "a topic takes the one path that the links of its class leave; the summary tells its hops",
        "durable": "leaf nodes send a message once and keep nothing for a link that is down; streams of "
        "JetStream do, and are set up apart from links",
    },
    audit=AuditSupport(
        read=lambda path, root: read_nats(path),
        parts_of=lambda conf: map(Path, conf.files),
        broker=_broker,
        has_links=lambda conf: bool(conf.remotes),
        judge=audit_nats,
        no_link="leaf node remote; routes within a cluster are not judged",
        link="leaf node link",
        topic="account",
        called=("nats", "nats-server"),
    ),
    run=RunSupport(
        "nats.adapter:NatsAdapter", relocate_nats, Unable("no probe sees every message that nats carries")
    ),
)
