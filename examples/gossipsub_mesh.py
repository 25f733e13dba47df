"""Run libp2p nodes from exported files: GossipSub with direct peers only, every message exactly once.

    python examples/gossipsub_mesh.py [DIR]

DIR is a folder made by `topicloom export gossipsub`; all its nodes are started here, in one program, on free
ports of this machine, with the keys of the folder. Without DIR a small overlay is built and exported first,
and shown twice: whole, and without one edge that a topic needs.
"""

import base64
import json
import logging
import socket
import sys
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

try:
    import trio
    from libp2p import new_host
    from libp2p.crypto.ed25519 import create_new_key_pair
    from libp2p.peer.id import ID
    from libp2p.peer.peerinfo import PeerInfo
    from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11, GossipSub
    from libp2p.pubsub.pubsub import Pubsub
    from libp2p.tools.anyio_service import background_trio_service
    from multiaddr import Multiaddr
except ImportError:
    print("this example needs libp2p: pip install 'topicloom[libp2p]'", file=sys.stderr)
    sys.exit(2)

PATIENCE = 60.0  # seconds; nodes are ready in less than two unless the machine is busy
logging.getLogger("libp2p").setLevel(logging.CRITICAL)  # nodes dial before others listen: that is no fault


class TopicRouter(GossipSub):
    """Send to the direct peers that want the topic, as go-libp2p does.

    py-libp2p 0.8 sends to all direct peers; those that do not want it drop it, but it was carried.
    """

    def _get_peers_to_send(self, topic_ids, *args, **kwargs):
        topics = list(topic_ids)
        for peer in super()._get_peers_to_send(topics, *args, **kwargs):
            if any(peer in self.pubsub.peer_topics.get(topic, ()) for topic in topics):
                yield peer


class CountingPubsub(Pubsub):
    """Count messages that arrived although this node does not want their topic."""

    strays = 0

    def _is_subscribed_to_msg(self, msg):
        wanted = super()._is_subscribed_to_msg(msg)
        self.strays += not wanted
        return wanted


class Node:
    """A running node of one exported file."""

    def __init__(self, folder, config, ports):
        self.config = config
        self.topics = set(config["topics"])
        raw = base64.b64decode((folder / config["key"]).read_text())
        pair = create_new_key_pair(raw[4:36])  # behind the protobuf's head: the seed, then the public key
        self.addrs = [here(ports, config["node"])]
        self.peers = [
            PeerInfo(ID.from_string(peer["id"]), [here(ports, peer["node"])])
            for peer in config["direct_peers"]
        ]
        degrees = config["gossipsub"]
        router = TopicRouter(
            [PROTOCOL_ID_V11],
            degree=degrees["D"],
            degree_low=degrees["Dlo"],
            degree_high=degrees["Dhi"],
            direct_peers=self.peers,
            direct_connect_initial_delay=0.02 * len(ports),  # when all listen
            direct_connect_interval=1,
            heartbeat_interval=1,
            spam_protection_enabled=False,  # it would drop what exceeds ten messages a second of a topic
            adaptive_gossip_enabled=False,  # it would raise the degrees
            eclipse_protection_enabled=False,  # it would look for peers of other addresses
        )
        self.host = new_host(key_pair=pair, listen_addrs=self.addrs)
        assert str(self.host.get_id()) == config["id"], "the key is not that of the exported peer id"
        self.router = router
        self.pubsub = CountingPubsub(self.host, router, max_subscriptions_per_peer=100_000)

    async def run(self, arrived, *, task_status):
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.host.run(self.addrs))
            await stack.enter_async_context(background_trio_service(self.pubsub))
            await stack.enter_async_context(background_trio_service(self.router))
            await self.pubsub.wait_until_ready()
            async with trio.open_nursery() as nursery:
                for topic in sorted(self.topics):
                    nursery.start_soon(self.listen, await self.pubsub.subscribe(topic), topic, arrived)
                task_status.started()
                await trio.sleep_forever()

    async def listen(self, subscription, topic, arrived):
        async for message in subscription:
            arrived[self.config["node"], topic, message.data] += 1

    def is_ready(self, wanted):
        """Return whether every direct peer is connected and its topics are known."""
        known = self.pubsub.peer_topics
        return all(
            peer.peer_id in self.pubsub.peers
            and all(peer.peer_id in known.get(topic, ()) for topic in wanted[str(peer.peer_id)] & self.topics)
            for peer in self.peers
        )


def here(ports, node):
    return Multiaddr(f"/ip4/127.0.0.1/tcp/{ports[node]}")


def free_ports(count):
    """Return unused ports; they differ because all are held at once."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


async def deliver(folder, configs, messages):
    """Start all nodes, publish `messages` on every topic from every subscriber, count what arrives."""
    ports = dict(zip((config["node"] for config in configs), free_ports(len(configs)), strict=True))
    nodes = [Node(folder, config, ports) for config in configs]
    wanted = {node.config["id"]: node.topics for node in nodes}
    sizes = Counter(topic for node in nodes for topic in node.topics)
    arrived = Counter()
    expected = sum(messages * sizes[topic] for node in nodes for topic in node.topics)
    async with trio.open_nursery() as nursery:
        for node in nodes:
            await nursery.start(node.run, arrived)
        with trio.fail_after(PATIENCE):
            while not all(node.is_ready(wanted) for node in nodes):
                await trio.sleep(0.05)
        for number in range(messages):
            for node in nodes:
                for topic in sorted(node.topics):
                    text = f"{number} {node.config['id']} {topic}"
                    await node.pubsub.publish(topic, text.encode())
                await trio.sleep(0)
        before, quiet = -1, 0
        with trio.move_on_after(PATIENCE):
            # Nothing came for half a second; for three, if something is missing.
            while quiet < (10 if arrived.total() >= expected else 60):
                await trio.sleep(0.05)
                quiet, before = (0, arrived.total()) if arrived.total() != before else (quiet + 1, before)
        for node in nodes:
            others = set(node.pubsub.peers) - {peer.peer_id for peer in node.peers}
            assert not others, f"{node.config['node']} is connected to more than its direct peers"
        strays = sum(node.pubsub.strays for node in nodes)
        nursery.cancel_scope.cancel()
    return expected, len(arrived), arrived.total() - len(arrived), strays


def read_configs(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    names = [name for node in manifest["nodes"] for name in node["configs"]]
    configs = [json.loads((folder / name).read_text()) for name in names]
    for config in configs:
        if not config["key"] or not (folder / config["key"]).is_file():
            sys.exit(
                f"{folder} has no private key of {config['node']}: to run all nodes here, all are needed"
            )
    return configs


def show(what, folder, configs, messages=2):
    expected, delivered, duplicates, strays = trio.run(deliver, folder, configs, messages)
    links = sum(len(config["direct_peers"]) for config in configs) // 2
    print(
        f"{what}: {len(configs)} nodes, {links} links, {delivered} of {expected} deliveries, "
        f"{duplicates} duplicates, {strays} strays"
    )
    return delivered == expected and not duplicates and not strays


def without(configs, one, other):
    """Return the same nodes, with these two no longer direct peers."""
    pair = {one, other}
    cut = json.loads(json.dumps(configs))
    for config in cut:
        config["direct_peers"] = [
            peer for peer in config["direct_peers"] if {config["node"], peer["node"]} != pair
        ]
    return cut


def small_export(folder):
    """Export an overlay for a dozen sites."""
    import topicloom
    from topicloom.mesh import Request, export_gossipsub

    wants = ["ab", "abc", "bcd", "cd", "de", "def", "aef", "fg", "gh", "ghi", "hia", "bgi"]
    interest = topicloom.Interest.from_pairs(
        (f"site{number:02}", f"topic-{letter}") for number, letters in enumerate(wants) for letter in letters
    )
    build = topicloom.build(interest, algorithm="gm")
    folder.mkdir()
    export_gossipsub(Request(interest, build.overlay), folder)
    configs = read_configs(folder)
    edges = [(config["node"], peer["node"]) for config in configs for peer in config["direct_peers"]]
    needed = next(edge for edge in edges if not connected(without(configs, *edge)))
    return configs, needed


def connected(configs):
    """Return whether the nodes of every topic can reach each other over direct peers that want it."""
    for topic in {topic for config in configs for topic in config["topics"]}:
        peers = {
            config["node"]: {peer["node"] for peer in config["direct_peers"]}
            for config in configs
            if topic in config["topics"]
        }
        reached, waiting = set(), [next(iter(peers))]
        while waiting:
            node = waiting.pop()
            if node not in reached:
                reached.add(node)
                waiting += peers[node] & peers.keys()
        if reached != peers.keys():
            return False
    return True


def main():
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        sys.exit(0 if show("exported overlay", folder, read_configs(folder)) else 1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "export"
        configs, needed = small_export(folder)
        whole = show("the overlay", folder, configs)
        rest = show(f"without {needed[0]} - {needed[1]}", folder, without(configs, *needed))
    print("nodes do not pass on what they do not want: each edge that a topic needs must be there")
    sys.exit(0 if whole and not rest else 1)


if __name__ == "__main__":
    main()
