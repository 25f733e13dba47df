"""Moving NATS configurations to loopback: parsed, changed, written as JSON; see relocate.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from topicloom.mesh.kinds.nats.config_language import ConfigValue
from topicloom.mesh.kinds.nats.read import MONITORS, LeafRemote, NatsConf, read_nats, split_url, text_of
from topicloom.mesh.kinds.nats.render import render_nats
from topicloom.mesh.kinds.nats.words import LEAFNODES
from topicloom.mesh.model.config_files import LOOPBACK, Location
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode
from topicloom.mesh.run.port_map import (
    PortMap,
    Relocated,
    absolute_path,
    named_link,
    without_repeats,
)

PATHS = frozenset({"ca_file", "cert_file", "key_file", "credentials", "creds"})
KNOWN = frozenset({"listen", "port", "host", "net", *MONITORS})
PURPOSES = ("client", "leaf", "monitor")


def relocate_nats(folder: Path, mesh: Mesh, doors: PortMap) -> Relocated:
    """Every port on 127.0.0.1, every remote to where its server listens now."""
    configs: dict[str, str] = {}
    links: list[MeshLink] = []
    for node in mesh.nodes:
        for name in node.configs:
            conf = read_nats(folder / name, shown=name)
            links += [_link(remote, node, mesh, doors) for remote in conf.remotes]
            _check_ports(conf, node)
            _move_ports(conf, node, doors)
            for remote in conf.remotes:
                _move_remote(remote, doors)
            _move_paths(conf.tree, folder / name, folder)
            configs[name] = render_nats(conf.tree, KNOWN) + "\n"
    moved = replace(mesh, nodes=tuple(map(doors.node, mesh.nodes)), links=without_repeats(links))
    return Relocated(moved, configs)


def _link(remote: LeafRemote, node: MeshNode, mesh: Mesh, doors: PortMap) -> MeshLink:
    ends = [doors.behind(url.address, ("leaf",)).node for url in remote.urls]
    link = named_link(mesh, node.name, ends[0], remote.account)
    return replace(link, backups=tuple(ends[1:]))


def _check_ports(conf: NatsConf, node: MeshNode) -> None:
    """What the runner and the other servers use must be where the manifest says."""
    for purpose in PURPOSES:
        said = conf.port(purpose)
        if purpose in node.ports and (said is None or said.port != node.ports[purpose]):
            where = said.where if said else Location(conf.file, 1)
            raise where.fault(
                f"{node.name} has {f'{purpose} port {said.port}' if said else f'no {purpose} port'}, but "
                f"manifest.json says {node.ports[purpose]}; correct one of them"
            )


def _move_ports(conf: NatsConf, node: MeshNode, doors: PortMap) -> None:
    tree, leaf, cluster = conf.tree, conf.tree.get(*LEAFNODES), conf.tree.get("cluster")
    if cluster is not None:
        raise cluster.where.fault("cluster routes join servers in another way than links; remove this block")
    for block, purpose in ((tree, "client"), (leaf, "leaf")):
        found = conf.port(purpose)
        if block is not None and found is not None and isinstance(block.data, dict):
            for key in [key for key in block.data if key.lower() in ("host", "net", "port")]:
                del block.data[key]
            listen = block.get("listen")
            text = f"{LOOPBACK}:{doors.moved(node, found.port)}"
            if listen is None:
                block.data["listen"] = ConfigValue(text, found.where)
            else:
                listen.put(text)
    for key in MONITORS:
        monitor, port = tree.get(key), conf.port("monitor")
        if monitor is not None and port is not None:
            number = doors.moved(node, port.port)
            monitor.put(f"{LOOPBACK}:{number}" if key in ("http", "https") else number)
    for block in (tree, leaf):
        for name in ("client_advertise", "advertise"):
            if block is not None and block.get(name) is not None and isinstance(block.data, dict):
                del block.data[name]


def _move_remote(remote: LeafRemote, doors: PortMap) -> None:
    strange = False
    for url in remote.urls:
        strange = strange or url.address.host != LOOPBACK
        text = text_of(url.value) or ""
        parts = split_url(text, url.value.where)
        login, at, _ = parts.netloc.rpartition("@")
        netloc = f"{login}{at}{LOOPBACK}:{doors.behind(url.address).new_port}"
        url.value.put(parts._replace(netloc=netloc).geturl())
    tls = remote.value.get("tls")
    if tls is not None and isinstance(tls.data, dict) and strange:
        # The certificate names the node's host. NATS can only leave out the whole check of it.
        tls.data["insecure"] = ConfigValue(True, tls.where)


def _move_paths(value: ConfigValue, config: Path, folder: Path) -> None:
    """Make every path absolute that the server reads from."""
    if isinstance(value.data, dict):
        for key, entry in value.data.items():
            if key.lower() in PATHS and isinstance(entry.data, str):
                entry.put(absolute_path(entry.data, entry.where, config, folder))
            else:
                _move_paths(entry, config, folder)
    elif isinstance(value.data, list):
        for entry in value.data:
            _move_paths(entry, config, folder)
