"""Moving Zenoh configurations to loopback: JSON with comments, as exported; see run/relocate.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from topicloom.mesh.model.config_files import (
    LOOPBACK,
    Address,
    Location,
    parse_address,
    read_text,
    refusing_depth,
)
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode
from topicloom.mesh.run.relocate import PortMap, Relocated, absolute_path, find_link, number_repeats

PATHS = frozenset({
    "connect_certificate", "connect_private_key", "dictionary_file", "listen_certificate",
    "listen_private_key", "private_key_file", "public_key_file", "root_ca_certificate",
})  # fmt: skip
_NO_DATA = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)

ZenohConfig = dict[str, Any]  # most of which is none of our business


def relocate_zenoh(folder: Path, mesh: Mesh, ports: PortMap) -> Relocated:
    """Put every endpoint on 127.0.0.1; a file belongs to the account whose port it listens on."""
    configs: dict[str, str] = {}
    links: list[MeshLink] = []
    secrets: set[str] = set()
    for node in mesh.nodes:
        for name in node.configs:
            file = _ZenohFile(folder, name)
            account = _listen(file, node, ports)
            links += _connect(file, node, account, mesh, ports)
            file.move_paths(file.config, folder)
            _close(file)
            secrets.update(_passwords(file.config))
            configs[name] = msgspec.json.format(msgspec.json.encode(file.config), indent=2).decode() + "\n"
    return Relocated(ports.move(mesh, number_repeats(links)), configs, frozenset(secrets))


def _passwords(config: object, name: str = "") -> Iterator[str]:
    if isinstance(config, dict):
        for key, value in config.items():
            yield from _passwords(value, key)
    elif name == "password":
        yield str(config)


class _ZenohFile:
    """A configuration that may hold comments and trailing commas; other liberties of JSON5 are refused."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.text = read_text(folder / name, name)
        # Each comment leaves its line ends behind, so that the lines of a fault are those of the file.
        plain = _NO_DATA.sub(lambda found: found[1] or "\n" * found[0].count("\n"), self.text)
        try:
            with refusing_depth(f"{name}:1"):
                self.config = msgspec.json.decode(plain, type=ZenohConfig)
        except msgspec.MsgspecError as error:
            at = re.search(r"byte (\d+)", str(error))
            line = plain.encode()[: int(at[1])].count(b"\n") + 1 if at else 1
            raise Location(name, line).fault(
                "this is no JSON; quote names and texts with double quotes"
            ) from None

    def where(self, part: str) -> Location:
        """Return the first line that holds this text."""
        at = self.text.find(part)
        return Location(self.name, self.text.count("\n", 0, at) + 1 if at >= 0 else 1)

    def endpoints(self, part: str) -> Iterator[tuple[str, str, Address]]:
        """Yield (protocol, what follows the address, address) of each endpoint of `listen` or `connect`."""
        block = self.config.get(part)
        listed = block.get("endpoints", []) if isinstance(block, dict) else []
        for endpoint in listed if isinstance(listed, list) else [listed]:
            where = self.where(str(endpoint))
            protocol, slash, rest = str(endpoint).partition("/")
            address, mark, more = re.sub(r"[?#]", "\0\\g<0>", rest, count=1).partition("\0")
            if not slash:
                called = "this" if "@" in str(endpoint) else repr(endpoint)
                raise where.fault(f"{called} is no endpoint; write tcp/HOST:PORT")
            yield protocol, more if mark else "", parse_address(address, 7447, where)

    def move_paths(self, config: ZenohConfig, folder: Path) -> None:
        """Make the paths in a part of the configuration absolute."""
        for key, value in config.items():
            if isinstance(value, dict):
                self.move_paths(value, folder)
            elif key in PATHS and isinstance(value, str):
                config[key] = absolute_path(value, self.where(value), folder / self.name, folder)


def _close(file: _ZenohFile) -> None:
    """Refuse libraries that the router would load, and have it look for no others on the network."""
    for key in ("plugins", "plugins_loading"):
        if file.config.get(key):
            raise file.where(f'"{key}"').fault(
                f"{key} loads libraries, which could do anything on this machine; take it out of a copy and "
                "run that"
            )
    file.config["scouting"] = {"multicast": {"enabled": False}, "gossip": {"enabled": False}}


def _listen(file: _ZenohFile, node: MeshNode, ports: PortMap) -> str:
    """Move what the router listens on; return the account of that port."""
    moved, accounts = [], []
    for protocol, more, address in file.endpoints("listen"):
        port = ports.of(node, address.port)
        if port is None:
            raise address.where.fault(
                f"port {address.port} is no port of {node.name} in manifest.json; correct one of them"
            )
        moved.append(f"{protocol}/{LOOPBACK}:{port.new_port}{more}")
        accounts.append(port.purpose)
    if len(set(accounts)) != 1:
        raise Location(file.name, 1).fault(f"a router of {node.name} must listen on the port of one account")
    file.config["listen"]["endpoints"] = moved
    return accounts[0]


def _connect(file: _ZenohFile, node: MeshNode, account: str, mesh: Mesh, ports: PortMap) -> list[MeshLink]:
    moved, links, strange = [], [], ports.has_detours
    for protocol, more, address in file.endpoints("connect"):
        port = ports.behind(address, account)
        strange = strange or address.host != LOOPBACK
        moved.append(f"{protocol}/{ports.dialled(node.name, port)}{more}")
        links.append(replace(find_link(mesh, node.name, port.node, account), backups=()))
    if moved:
        file.config["connect"]["endpoints"] = moved
    tls = file.config.get("transport", {}).get("link", {}).get("tls")
    if isinstance(tls, dict) and strange:
        tls["verify_name_on_connect"] = False  # the certificate names the node's host
    return links
