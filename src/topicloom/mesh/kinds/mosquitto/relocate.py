"""Moving Mosquitto configurations to loopback, line by line; see run/relocate.py."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

from topicloom.mesh.kinds.mosquitto.bridge_flow import matches
from topicloom.mesh.kinds.mosquitto.read import Bridge, MosquittoConf, read_mosquitto
from topicloom.mesh.model.config_files import LOOPBACK, Location
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode
from topicloom.mesh.run.relocate import PortMap, Relocated, absolute_path

# Options that name a file the broker reads; mosquitto looks for them where it was started.
PATHS = frozenset({
    "acl_file", "bridge_cafile", "bridge_capath", "bridge_certfile", "bridge_keyfile", "cafile", "capath",
    "certfile", "crlfile", "dhparamfile", "keyfile", "password_file", "psk_file",
})  # fmt: skip
# Libraries that the broker would load.
CODE = frozenset({"auth_plugin", "global_plugin", "plugin", "plugin_load", "tls_engine"})
SAYS = frozenset({"stdout", "stderr", "none", "topic"})  # logs that are no file and no service of the machine

# What would write outside of the folder of the run, or listen on an interface of the machine.
PASSWORDS = frozenset(
    {"bridge_psk", "local_password", "password", "remote_password", "tls_engine_kpass_sha1"}
)

NOT_HERE = frozenset({"bind_interface", "pid_file", "persistence_file", "persistence_location"})


def relocate_mosquitto(folder: Path, mesh: Mesh, ports: PortMap) -> Relocated:
    """Put every listener on 127.0.0.1, and lead every bridge to where its broker listens now."""
    configs: dict[str, str] = {}
    links: dict[str, tuple[MeshLink, Location]] = {}
    secrets: set[str] = set()
    for node in mesh.nodes:
        for name in node.configs:
            conf = read_mosquitto(folder / name, shown=name)
            listening = _listening(conf, node, ports)
            purpose = _purpose(mesh)
            secrets.update(line.rest for line in conf.lines if line.key in PASSWORDS)
            configs[name] = "\n".join(_moved(conf, node, listening, folder, ports, purpose)) + "\n"
            for bridge in conf.bridges:
                link = _link(bridge, node, mesh, ports)
                if link.name in links:  # readiness is told by name
                    raise bridge.where.fault(
                        f"a link {link.name!r} exists already at {links[link.name][1]}; rename one of them"
                    )
                links[link.name] = link, bridge.where
    moved = ports.move(mesh, tuple(link for link, _ in links.values()))
    return Relocated(moved, configs, frozenset(secrets))


def _purpose(mesh: Mesh) -> str:
    """Return the port that links dial: one of their own, where the mesh has such."""
    return "link" if any("link" in node.ports for node in mesh.nodes) else "mqtt"


def _link(bridge: Bridge, node: MeshNode, mesh: Mesh, ports: PortMap) -> MeshLink:
    """Return the link a bridge makes; its name is the one its state is published under."""
    ends = [ports.behind(address, _purpose(mesh)).node for address in bridge.addresses]
    topics = tuple(
        topic.topic
        for topic in mesh.topics
        if any(matches(rule.local, topic.name) or matches(rule.remote, topic.name) for rule in bridge.rules)
    )
    # mosquitto.conf(5), remote_clientid: the default is the machine's name and the connection's.
    name = bridge.remote_clientid or f"{socket.gethostname()}.{bridge.name}"
    return MeshLink(name, node.name, ends[0], topics, None, tuple(ends[1:]))


def _listening(conf: MosquittoConf, node: MeshNode, ports: PortMap) -> dict[Location, int]:
    """Return the new port of each listener; the one for clients and links must be where the manifest says."""
    listening = {listener.where: ports.new_port(node, listener.port) for listener in conf.listeners}
    if all(listener.port != node.ports["mqtt"] for listener in conf.listeners):
        raise conf.listeners[0].where.fault(
            f"{node.name} listens on {', '.join(str(listener.port) for listener in conf.listeners)}, but "
            f"manifest.json says {node.ports['mqtt']}; correct one of them"
        )
    return listening


def _moved(
    conf: MosquittoConf,
    node: MeshNode,
    listening: dict[Location, int],
    folder: Path,
    ports: PortMap,
    purpose: str,
) -> Iterator[str]:
    """Yield the lines as they are for this machine."""
    keys = {line.key for line in conf.lines}
    bridges = {bridge.addresses[0].where: bridge for bridge in conf.bridges}
    secured = {
        bridge.where
        for bridge in conf.bridges
        if bridge.certificates
        and (ports.has_detours or any(address.host != LOOPBACK for address in bridge.addresses))
    }
    # Brokers are started in one folder here, and each keeps its own.
    kept = folder / f"{conf.file}.kept"
    if "persistence" in keys:
        kept.mkdir(exist_ok=True)
        yield f"persistence_location {kept}/"
    if not keys & {"listener", "port", "bind_address"}:
        yield f"listener {next(iter(listening.values()))} {LOOPBACK}"  # it relied on the default, 1883
    for line in conf.lines:
        if line.key in CODE:
            raise line.where.fault(
                f"{line.key} loads a library, which could do anything on this machine; take the line out of "
                "a copy and run that"
            )
        if line.key == "listener" and line.words[1] == "0":  # a socket in the file system
            yield f"listener 0 {folder}/{line.where.line}-{len(conf.file)}.socket"
        elif line.key == "listener":
            yield f"listener {listening[line.where]} {LOOPBACK}"
        elif line.key == "port":
            yield f"port {listening[line.where]}"
            if "bind_address" not in keys:
                yield f"bind_address {LOOPBACK}"
        elif line.key == "bind_address":
            yield f"bind_address {LOOPBACK}"
            if "port" not in keys:
                yield f"port {listening[line.where]}"
        elif line.where in bridges:
            ends = (ports.behind(at, purpose) for at in bridges[line.where].addresses)
            moved = [ports.dialled(node.name, end) for end in ends]
            yield " ".join([line.key, *moved])
        elif line.key == "bridge_bind_address":
            yield f"bridge_bind_address {LOOPBACK}"
        elif line.key in PATHS and len(line.words) > 1:
            yield f"{line.key} {absolute_path(line.rest, line.where, folder / conf.file, folder)}"
        elif line.key == "log_dest" and not set(line.words[1:2]) <= SAYS:
            yield "log_dest stderr"
        elif line.key not in NOT_HERE:
            yield line.text
        if line.where in secured:  # the certificate names the node's host, not this machine's loopback
            yield "bridge_insecure true"
