"""What NATS servers do not pass on to those that they dial.

A server tells those it dials of its own clients' interest and of that of servers which dialled it, but not of
the interest of others that it dials, nor of its cluster's. So between two servers that a third one dials no
message passes, unless that one wants it itself; and a remote serves only the server of a cluster that has it.
A remote with `hub: true` counts as if the far end had dialled. All this was tried with nats-server 2.9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from topicloom.mesh.audit.findings import Finding, several
from topicloom.mesh.audit.message_flow import MessageFlow, Spot
from topicloom.mesh.kinds.nats.read import LeafRemote
from topicloom.mesh.model.search import search


@dataclass(frozen=True, slots=True)
class LeafLink:
    """A leaf node remote, its ends by the names of servers, and as spots: their clusters and accounts."""

    remote: LeafRemote
    dialer: str
    acceptor: str
    near: Spot
    far: Spot

    @property
    def where(self) -> str:
        return str(self.remote.urls[0].value.where)


class Forwarding:
    """The spots that each spot dials, and the links that do it; `group` is the cluster of each server."""

    def __init__(self, links: list[LeafLink], group: Mapping[str, str], flow: MessageFlow) -> None:
        self._flow = flow
        self._members: dict[str, list[str]] = defaultdict(list)
        for server, cluster in group.items():
            self._members[cluster].append(server)
        self._dialled: dict[Spot, dict[Spot, list[LeafLink]]] = {}
        for link in links:
            if link.near != link.far and not link.remote.as_hub:
                self._dialled.setdefault(link.near, {}).setdefault(link.far, []).append(link)
        self._between = {near: hubs for near, hubs in self._dialled.items() if len(hubs) > 1}

    def findings(self) -> Iterator[Finding]:
        """Find servers between several others that they dial."""
        for (server, account), hubs in self._between.items():
            where = tuple(links[0].where for links in hubs.values())
            names = [far for far, _ in hubs]
            text = (
                f"{server} dials {several(names)} in account {account}: it passes nothing from one to the "
                "other unless a client of its own has subscribed to it; let all but one of them dial "
                f"{server}, or set hub: true in all but one of these remotes: {several(where)}"
            )
            yield Finding((account,), (server, *names), where, False, text)

    def absent(self) -> Iterator[Finding]:
        """Find servers of a cluster without a remote that others of it have."""
        for (cluster, account), hubs in self._dialled.items():
            for (far, _), links in hubs.items():
                without = [
                    one for one in self._members[cluster] if one not in {link.dialer for link in links}
                ]
                if without:
                    where = tuple(link.where for link in links)
                    text = (
                        f"{several(without)} does not dial {far} in account {account}, as "
                        f"{links[0].dialer} of its cluster does: its clients hear nothing of {far}; give "
                        f"it the remote of {where[0]} too"
                    )
                    yield Finding((account,), (*without, far), where, False, text)

    def flow_of(self, wanted: set[Spot]) -> MessageFlow:
        """Return how messages of a topic flow that these spots want: not through a spot that keeps silent."""
        silent = {near for near in self._between if not self._hears(near, wanted)}
        if not silent:
            return self._flow
        return MessageFlow(arc for arc in self._flow.arcs if not {arc.tail, arc.head} & silent)

    def _hears(self, near: Spot, wanted: set[Spot]) -> bool:
        """Return whether anyone wants it at this spot, or joined to it otherwise than by its dialling."""

        def heads(spot: Spot) -> set[Spot]:
            found = {arc.head for arc in self._flow.out_of.get(spot, ())}
            return found - self._dialled[near].keys() if spot == near else found

        return bool(search(near, heads).keys() & wanted)
