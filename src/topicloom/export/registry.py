"""All kinds of export, one line each; an exporter fills an empty folder, jobs/export.py does the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from topicloom.export.graphs.files import export_dot, export_edge_list, export_graphml, export_node_link
from topicloom.mesh.kinds.gossipsub.write import export_gossipsub
from topicloom.mesh.kinds.mosquitto.write import export_mosquitto
from topicloom.mesh.kinds.nats.write import export_nats
from topicloom.mesh.kinds.zenoh.write import export_zenoh
from topicloom.mesh.plan.request import Figures, Request
from topicloom.model.registry import find


@dataclass(frozen=True, slots=True)
class Exporter:
    """One kind: what it writes, the function that does, and the options it honours.

    A `mesh` has a manifest that names every broker, link and topic; of other kinds it lists the files only.
    """

    description: str
    write: Callable[[Request, Path], Figures]
    options: frozenset[str] = frozenset()
    mesh: bool = False


BROKER_OPTIONS = frozenset({"hosts", "credentials", "tls"})

EXPORTERS: dict[str, Exporter] = {
    "graphml": Exporter("GraphML, for networkx, igraph, Gephi and others", export_graphml),
    "node-link": Exporter("node-link JSON, for networkx and D3", export_node_link),
    "edge-list": Exporter("edge list with attributes, for networkx", export_edge_list),
    "dot": Exporter("DOT, for Graphviz", export_dot),
    "mosquitto": Exporter(
        "Mosquitto: a broker per node, a bridge per link, a tree per topic",
        export_mosquitto,
        BROKER_OPTIONS | {"backups", "split"},
        mesh=True,
    ),
    "nats": Exporter(
        "NATS: a server per node, leaf node links, an account per class of topics",
        export_nats,
        BROKER_OPTIONS | {"backups"},
        mesh=True,
    ),
    "zenoh": Exporter(
        "Zenoh: a router per node and class of topics", export_zenoh, BROKER_OPTIONS, mesh=True
    ),
    "gossipsub": Exporter(
        "GossipSub: direct peers of each libp2p node (go, js, py), and no mesh",
        export_gossipsub,
        frozenset({"hosts", "seed"}),
        mesh=True,
    ),
}


def find_exporter(kind: str) -> Exporter:
    """The exporter of this name."""
    return find("KIND", EXPORTERS, kind)
