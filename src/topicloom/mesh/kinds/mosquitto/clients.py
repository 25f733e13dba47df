"""Clients at Mosquitto brokers, and probes that see what each broker carries.

A dialing broker says that a bridge is up before the accepting broker has taken its subscriptions, which come
one packet for each topic. So a message is sent from the dialer to the acceptor over every bridge: it follows
the subscriptions on the same connection, and when it arrives they are in force. A client with `#` at every
broker sees what it carries and attracts nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from topicloom.mesh.kinds.mosquitto.mqtt_client import MqttAccess, MqttClient
from topicloom.mesh.kinds.mosquitto.write import NAMES
from topicloom.mesh.model.directions import IN, directions_of
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.adapter import Arrival, MeshClients, Publication, Stray, all_of, wait_until_none

HELLO = b"hello "  # begins the messages that only show that a bridge carries
KEPT = b"kept "  # begins retained messages: whoever subscribes gets them at once
PATIENCE = 2.0  # seconds without a further hello until it is given up
PACKET = 200  # topics in one subscription request


class MosquittoClients(MeshClients):
    """At each broker a client with all topics of its node, and one with `#`.

    In a mesh with the option `origin` messages arrive from other brokers as ORIGIN/NODE/TOPIC.
    """

    filters = NAMES.filters

    def __init__(self, mesh: Mesh, access: dict[str, MqttAccess], arrived: Callable[[Arrival], None]) -> None:
        super().__init__(mesh, arrived)
        self._called = {name: topic.topic for topic in mesh.topics for name in topic.names_sent}
        self._origin = mesh.options.get("origin")
        self._carried: dict[str, Counter[str]] = {node.name: Counter() for node in mesh.nodes}
        self._taken_up = 0
        self._hellos: set[tuple[str, bytes]] = set()
        self._clients = {
            name: MqttClient(name, "topicloom-client", access[name], self._hearer(name))
            for name in self._carried
        }
        self._probes = {
            name: MqttClient(name, "topicloom-probe", access[name], self._prober(name))
            for name in self._carried
        }

    def _hearer(self, node: str) -> Callable[[str, bytes], None]:
        def got(name: str, payload: bytes) -> None:
            if not payload.startswith((HELLO, KEPT)):
                plain = self._without_origin(name)
                self._arrived(Arrival(node, self._called.get(plain, plain), int(payload)))

        return got

    def _prober(self, node: str) -> Callable[[str, bytes], None]:
        wanted = frozenset(name for topic in self._wanted.get((node, ""), ()) for name in topic.names_sent)
        carried = self._carried[node]

        def got(name: str, payload: bytes) -> None:
            if payload.startswith(HELLO):
                self._hellos.add((node, payload))
                return
            if payload.startswith(KEPT):
                return
            self._taken_up += 1
            plain = self._without_origin(name)
            if plain not in wanted and (node, plain) not in self._outside:
                carried[plain] += 1

        return got

    def _without_origin(self, name: str) -> str:
        if self._origin is None or not name.startswith(f"{self._origin}/"):
            return name
        return name.split("/", 2)[2]

    def _names(self, node: str) -> list[str]:
        return [topic.name for topic in self._wanted.get((node, ""), ()) if node in topic.hearers]

    def _filters(self, name: str) -> list[str]:
        """Return what to subscribe to for a topic of this name."""
        return [name] if self._origin is None else [name, f"{self._origin}/+/{name}"]

    async def open(self) -> None:
        """Connect all, subscribe all, and see that every bridge carries."""
        await all_of(client.connect() for client in self._everyone())
        for node, client in self._clients.items():
            names = [filter for name in self._names(node) for filter in self._filters(name)]
            for first in range(0, len(names), PACKET):
                await client.subscribe(names[first : first + PACKET], 1)
        await asyncio.gather(*(probe.subscribe(["#"], 0) for probe in self._probes.values()))
        await self._greet()

    async def _greet(self) -> None:
        """Send a hello over every link, and wait until the probe at its other end has seen it.

        Rather from the dialer: it comes after the subscriptions of the dialer. What a link only brings in it
        brings once the subscription is in force, so such a hello is sent until it comes.
        """
        ways = directions_of(self._mesh)
        waiting: dict[tuple[str, bytes], tuple[str, str]] = {}
        for number, link in enumerate(self._mesh.links):
            known = [name for name in link.topics if name in self._topics]
            out = [name for name in known if ways.get((link.name, name)) != IN]
            payload = HELLO + str(number).encode()
            if out:
                await self._hail(link.dialer, out[0], payload)
                waiting[link.acceptor, payload] = "", ""
            elif known:
                waiting[link.dialer, payload] = link.acceptor, known[0]

        async def missing() -> int:
            left = waiting.keys() - self._hellos
            for place in left:
                node, name = waiting[place]
                if name:
                    await self._hail(node, name, place[1])
            return len(left)

        await wait_until_none(missing, PATIENCE)

    async def _hail(self, node: str, topic: str, payload: bytes) -> None:
        await self._clients[node].publish(self._topics[topic].sent_as, payload)

    async def retain(self, publication: Publication) -> None:
        payload = KEPT + str(publication.message).encode()
        name = self._topics[publication.topic].sent_as
        await self._clients[publication.node].publish(name, payload, retain=True)

    async def send(self, node: str, account: str, name: str, payload: bytes) -> None:
        await self._clients[node].publish(name, payload)

    async def find_strays(self, publications: Sequence[Publication]) -> list[Stray]:
        return self.seen_strays()

    def seen_strays(self) -> list[Stray]:
        """Return what the `#` probes saw of topics that their nodes do not want."""
        return [
            Stray(node, count, f"carried {count} messages on {self._called.get(name, name)}")
            for node, carried in self._carried.items()
            for name, count in sorted(carried.items())
        ]

    def messages_carried(self) -> int:
        """Count what the `#` probes saw, wanted or not."""
        return self._taken_up

    async def close(self) -> None:
        for client in self._everyone():
            client.close()

    def _everyone(self) -> list[MqttClient]:
        return [*self._clients.values(), *self._probes.values()]
