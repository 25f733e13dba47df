"""GossipSub: for each node its direct peers, which are all its neighbors in the overlay, and no mesh.

With D = Dlo = Dhi = Dout = 0 a node sends only to its direct peers, and peering must be configured at both
ends (gossipsub v1.1, "explicit peering agreements"). A node that does not want a topic does not forward it,
so every message stays among subscribers, and reaches them all because each topic is connected. Cycles do no
harm: messages have identifiers, and a node passes on each only once.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from topicloom.base.progress import check_stop
from topicloom.errors import InputError
from topicloom.mesh.kinds.gossipsub.keys import PeerIdentity, identities, read_identity
from topicloom.mesh.model.config_files import refusing_depth, same_host
from topicloom.mesh.model.manifest import MANIFEST, kind_of, read_mesh, write_mesh
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.plan.hosts import bind_host
from topicloom.mesh.plan.mesh_plan import MeshPlan, MeshShape, plan_mesh, refuse_empty
from topicloom.mesh.plan.names import NameRule
from topicloom.mesh.plan.request import ExportFigures, Request
from topicloom.mesh.topic_trees.spanning import split_sentence
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.shared_topics import shared_topics

NAMES = NameRule("gossipsub")
FORMAT = 1
PURPOSE = "p2p"
SHAPE = MeshShape(NAMES, ((PURPOSE, 4001),), ".json")
KEYS = "keys"
# The names of go's GossipSubParams and of js's options; go refuses a Dscore above Dhi.
NO_MESH = {"D": 0, "Dlo": 0, "Dhi": 0, "Dout": 0, "Dscore": 0, "Dlazy": 0}
MOST_TOPICS = 100  # py-libp2p ignores what a peer subscribes to beyond these, unless told otherwise


def export_gossipsub(request: Request, folder: Path) -> ExportFigures:
    """Fill the folder: NODE.json for each node, keys/NODE.key where we have its key, and the manifest."""
    refuse_empty(request)
    _refuse_split(request)
    nodes: list[str] = request.interest.node_ids.to_pylist()
    plan = plan_mesh(request, SHAPE, _links(request), range(len(nodes)))
    request.progress.phase("keys")
    kept = read_identities(request.earlier) if request.earlier is not None else {}
    who = identities(nodes, request.places, kept=kept, seed=request.seed)
    refuse_loss(kept, who)
    check_stop(request.progress)
    request.progress.phase("write")
    keys = {f"{KEYS}/{plan.stems[node]}.key": f"{who[node].key}\n" for node in nodes if who[node].key}
    if keys:
        (folder / KEYS).mkdir(mode=0o700)
    new = sum(who[node].key is not None and who[node] != kept.get(node) for node in nodes)
    if new:
        request.notice(
            f"{new:,} new private keys are in {KEYS}/: give each node its own and nobody another's"
        )
    write_mesh(folder, plan.mesh, _files(request, plan, who) | keys, secret=keys.keys())
    most = int(request.interest.subscription_sizes().max())
    if most > MOST_TOPICS:
        request.notice(
            f"a node has {most:,} topics: py-libp2p heeds {MOST_TOPICS} of a peer unless its Pubsub has a "
            "larger max_subscriptions_per_peer"
        )
    return plan.figures()


def _refuse_split(request: Request) -> None:
    """Refuse an overlay with a split topic: no tree is planned here that would show it."""
    verdict = check_overlay(request.interest, request.overlay, n_witnesses=1, progress=request.progress)
    for split in verdict.witnesses:
        raise InputError(split_sentence(split.topic, *split.nodes[:2]))


def read_identities(folder: Path) -> dict[str, PeerIdentity]:
    """Read who the nodes of the earlier export in this folder are; nobody if it is none of GossipSub.

    A key that was taken away to its node is not there any more: the peer id still is.
    """
    if not (folder / MANIFEST).is_file() or kind_of(folder) != NAMES.kind:
        return {}
    try:
        return {
            node.name: _read_identity(folder, folder / node.configs[0]) for node in read_mesh(folder).nodes
        }
    except (InputError, OSError, ValueError) as error:  # also what msgspec raises
        if not any((folder / KEYS).glob("*")):
            return {}
        raise InputError(
            f"`out={folder}` holds private keys that cannot be kept ({error}); name another folder"
        ) from None


def _read_identity(folder: Path, path: Path) -> PeerIdentity:
    with refusing_depth(str(path)):
        file = msgspec.json.decode(path.read_bytes(), type=_NodeFile)
    key = folder / KEYS / Path(file.key).name if file.key else None
    text = key.read_text("ascii").strip() if key and key.is_file() else None
    return read_identity(file.id, text, str(path))


class _NodeFile(msgspec.Struct):
    """What is read back of a node's file."""

    id: str
    key: str | None = None


def refuse_loss(kept: Mapping[str, PeerIdentity], found: Mapping[str, PeerIdentity]) -> None:
    """Refuse an export over another one if a private key of that would be gone."""
    lost = next((node for node, old in kept.items() if old.key and found.get(node) != old), None)
    if lost is not None:
        raise InputError(
            f"`out` holds the private key of node {lost!r}, which this export would not keep; name another "
            f"folder, or move its {KEYS}/ away"
        )


def _files(request: Request, plan: MeshPlan, who: Mapping[str, PeerIdentity]) -> dict[str, str]:
    """Return the text of each node's file."""
    mesh, topics = plan.mesh, request.interest.topic_ids.to_pylist()
    peers: dict[str, list[dict[str, Any]]] = {node.name: [] for node in mesh.nodes}
    for link in mesh.links:
        for own, other in ((link.dialer, link.acceptor), (link.acceptor, link.dialer)):
            address = multiaddr(plan.node[other].host, plan.node[other].ports[PURPOSE])
            # `id` and `addrs` are the fields of go's peer.AddrInfo and of js's AddrInfo.
            entry = {"node": other, "id": who[other].peer_id, "addrs": [address], "topics": link.topics}
            peers[own].append(entry)
    texts = {}
    for number, node in enumerate(mesh.nodes):
        port, identity = node.ports[PURPOSE], who[node.name]
        content = {
            "format": FORMAT,
            "kind": mesh.kind,
            "node": node.name,
            "id": identity.peer_id,
            "key": f"{KEYS}/{plan.stems[node.name]}.key" if identity.key else None,
            "listen": [multiaddr(same_host(bind_host(node.host)), port)],
            "addrs": [multiaddr(node.host, port)],
            "topics": [topics[topic] for topic in request.interest.topics_of(number)],
            "gossipsub": NO_MESH,
            "direct_peers": sorted(peers[node.name], key=lambda peer: str(peer["node"]).encode()),
        }
        texts[node.configs[0]] = msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"
    return texts


def _links(request: Request) -> list[PlannedLink]:
    """Return a link for every edge; both ends dial, the later one in order of nodes is called the dialer."""
    interest, overlay = request.interest, request.overlay
    counts, shared = shared_topics(interest, overlay.u, overlay.v)
    edges = zip(overlay.u.tolist(), overlay.v.tolist(), np.split(shared, np.cumsum(counts)), strict=False)
    return [PlannedLink(v, u, tuple(topics.tolist())) for u, v, topics in edges]


def multiaddr(host: str, port: int) -> str:
    """Return where a node is dialled.

    >>> multiaddr("10.0.0.7", 4001), multiaddr("::1", 4001), multiaddr("site-7.example", 4001)
    ('/ip4/10.0.0.7/tcp/4001', '/ip6/::1/tcp/4001', '/dns/site-7.example/tcp/4001')
    """
    try:
        return f"/ip{ipaddress.ip_address(host).version}/{host}/tcp/{port}"
    except ValueError:
        return f"/dns/{host}/tcp/{port}"
