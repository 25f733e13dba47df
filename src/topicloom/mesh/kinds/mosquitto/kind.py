"""Mosquitto as an entry of the registry."""

from __future__ import annotations

from topicloom.mesh.audit.broker_files import ConfiguredBroker, bound_hosts
from topicloom.mesh.kinds.kind import LOGIN_OPTIONS, AuditSupport, BrokerKind, RunSupport
from topicloom.mesh.kinds.mosquitto.audit import audit_mosquitto
from topicloom.mesh.kinds.mosquitto.baselines import write_full_mesh, write_star
from topicloom.mesh.kinds.mosquitto.read import MosquittoConf, read_mosquitto
from topicloom.mesh.kinds.mosquitto.relocate import relocate_mosquitto
from topicloom.mesh.kinds.mosquitto.write import LAYOUT, NAMES, export_mosquitto


def _broker(name: str, told: frozenset[str], conf: MosquittoConf) -> ConfiguredBroker[MosquittoConf]:
    bound = bound_hosts(listener.host for listener in conf.listeners)
    ports = frozenset(listener.port for listener in conf.listeners)
    return ConfiguredBroker(name, told or bound, ports, conf, bound)


MOSQUITTO = BrokerKind(
    name=NAMES.kind,
    title="Mosquitto",
    description="Mosquitto: a broker per node, a bridge per link, a tree per topic",
    options=LOGIN_OPTIONS | {"backups", "split", "durable", "queue", "trees"},
    write=export_mosquitto,
    names=NAMES,
    layout=LAYOUT,
    audit=AuditSupport(
        read=lambda path, root: read_mosquitto(path, root=root),
        parts_of=lambda conf: conf.folders,
        broker=_broker,
        has_links=lambda conf: bool(conf.bridges),
        judge=lambda directory, wanted, mesh: audit_mosquitto(directory, wanted),
        no_link="bridge; a bridge begins with a line `connection NAME`",
        link="bridge",
        topic="pattern of topics",
        called=("mosquitto",),
    ),
    run=RunSupport(
        "mosquitto.adapter:MosquittoAdapter",
        relocate_mosquitto,
        {"star": write_star, "full mesh": write_full_mesh},
    ),
)
