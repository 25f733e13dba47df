"""What the processes of brokers use, and which connections between them are really open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from topicloom.base.summaries import Summary
from topicloom.mesh.model.mesh import Mesh

Pair = tuple[int, int]  # the ports of a connection, near and far
Pids = Mapping[str, int]  # the process of each node


class NodeUsage(Summary, frozen=True):
    """What one broker took since its start: seconds of CPU, and bytes of resident memory."""

    node: str
    cpu_seconds: float
    memory_bytes: int


def measure_usage(pids: Pids) -> list[NodeUsage]:
    """Ask the system about these processes; one that ended meanwhile counts nothing."""
    found = []
    for node, number in pids.items():
        cpu, memory = 0.0, 0
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(number)
            times = process.cpu_times()
            cpu = max(times.user + times.system, _scheduled(number))
            memory = process.memory_info().rss
        found.append(NodeUsage(node, cpu, memory))
    return found


def _scheduled(number: int) -> float:
    """Return the seconds its threads have run by Linux's scheduler: to the nanosecond, not to 10 ms."""
    total = 0
    for path in Path(f"/proc/{number}/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread ended meanwhile
            total += int(path.read_text().split()[0])
    return total / 1e9


def open_connections(mesh: Mesh, pids: Pids) -> Counter[tuple[str, str]]:
    """Count the sockets that one node's broker has open to a port of another's: (dialer, acceptor) -> number.

    Connections of clients do not count: they belong to other processes.
    """
    node_of = {number: node for node, number in pids.items()}
    port_of = {port: node.name for node in mesh.nodes for port in node.ports.values()}
    found: Counter[tuple[str, str]] = Counter()
    for socket in psutil.net_connections(kind="tcp"):
        if socket.pid in node_of and socket.status == psutil.CONN_ESTABLISHED and socket.raddr:
            dialer, acceptor = node_of[socket.pid], port_of.get(socket.raddr.port)
            # A socket that was accepted has one of our ports at this end, not at the far one.
            if acceptor is not None and acceptor != dialer and port_of.get(socket.laddr.port) != dialer:
                found[dialer, acceptor] += 1
    return found


def open_pairs(pids: Pids, node: str) -> dict[str, set[Pair]]:
    """Return the connections that other brokers have open with that of `node`, by broker and ports."""
    node_of = {number: name for name, number in pids.items()}
    sockets = [one for one in psutil.net_connections(kind="tcp") if one.pid in node_of and one.laddr]
    own = {one.laddr.port for one in sockets if node_of[one.pid] == node}
    found: dict[str, set[Pair]] = {}
    for one in sockets:
        far = one.raddr.port if one.raddr and one.status == psutil.CONN_ESTABLISHED else None
        if far is not None and far in own and node_of[one.pid] != node:
            found.setdefault(node_of[one.pid], set()).add((one.laddr.port, far))
    return found


def ends_at(pids: Pids, node: str) -> tuple[set[Pair], bool]:
    """Return the connections that the broker of `node` holds, by ports, and whether one is dead already."""
    held = [one for one in psutil.net_connections(kind="tcp") if one.pid == pids[node] and one.raddr]
    dead = any(one.status != psutil.CONN_ESTABLISHED for one in held)
    return {(one.raddr.port, one.laddr.port) for one in held}, dead


def open_connections_per_node(open_now: Counter[tuple[str, str]]) -> Counter[str]:
    """Count the open connections that end at each node."""
    counts: Counter[str] = Counter()
    for ends, number in open_now.items():
        for end in ends:
            counts[end] += number
    return counts


def links_elsewhere(mesh: Mesh, open_now: Counter[tuple[str, str]]) -> int:
    """Count the links that are not open from their dialer to their acceptor: down, or at a backup."""
    asked = Counter((link.dialer, link.acceptor) for link in mesh.links)
    return sum(max(number - open_now[ends], 0) for ends, number in asked.items())
