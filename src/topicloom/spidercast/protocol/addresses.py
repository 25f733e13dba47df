"""Where other nodes can be reached, and from which host those that are connected speak.

What a node says of itself is *first-hand* and beats what others say of it. Both are only contact information:
whoever counts the places of one host goes by the real other end of a connection, as the driver sees it.
"""

from __future__ import annotations

from collections.abc import Container

from topicloom.spidercast.protocol.messages import NodeId

MAX_ADDRESSES = 4096  # of each kind; the oldest go first, hearsay before first-hand ones


class Addresses:
    """The addresses that one node knows, and the hosts of its connections."""

    __slots__ = ("_hosts", "_own", "_told")

    def __init__(self) -> None:
        self._own: dict[NodeId, str] = {}
        self._told: dict[NodeId, str] = {}
        self._hosts: dict[NodeId, str] | None = None  # None: the driver does not tell

    def of(self, node: NodeId) -> str:
        """Return where `node` can be reached, as far as it is known; else an empty text."""
        return self._own.get(node) or self._told.get(node, "")

    def note(self, node: NodeId, address: str, *, first_hand: bool = False) -> None:
        """Note an address; hearsay never replaces one."""
        if not address or (not first_hand and (node in self._own or node in self._told)):
            return
        table = self._own if first_hand else self._told
        table.pop(node, None)
        table[node] = address
        if len(self._own) + len(self._told) > MAX_ADDRESSES:
            oldest = self._told or self._own
            del oldest[next(iter(oldest))]

    def refused(self, node: NodeId) -> None:
        """Forget a mere hearsay address: nobody could be reached there."""
        self._told.pop(node, None)

    # -- hosts ------------------------------------------------------------------------------------------

    def connected(self, peer: NodeId, host: str, linked: Container[NodeId]) -> None:
        """Note the host at the other end of a connection. Those that are `linked` are never forgotten."""
        hosts = self._hosts = {} if self._hosts is None else self._hosts
        hosts.pop(peer, None)
        hosts[peer] = host
        if len(hosts) > MAX_ADDRESSES:
            del hosts[next((node for node in hosts if node not in linked), peer)]

    def disconnected(self, peer: NodeId) -> None:
        """Note that the connection is no more."""
        if self._hosts is not None:
            self._hosts.pop(peer, None)

    def host_of(self, peer: NodeId) -> str | None:
        """Return its host; an empty text for all that are not known; None if the driver tells of nobody."""
        return None if self._hosts is None else self._hosts.get(peer, "")
