"""GossipSub as an entry of the registry."""

from __future__ import annotations

from topicloom.mesh.kinds.gossipsub.keys import PEER_ID
from topicloom.mesh.kinds.gossipsub.write import NAMES, export_gossipsub
from topicloom.mesh.kinds.kind import BrokerKind, Unable

GOSSIPSUB = BrokerKind(
    name=NAMES.kind,
    title="GossipSub",
    description="GossipSub: direct peers of each libp2p node (go, js, py), and no mesh",
    options=frozenset({"hosts", "seed"}),
    write=export_gossipsub,
    names=NAMES,
    audit=Unable("its nodes are programs of your own, and no file tells how they are set up"),
    run=Unable("its nodes are programs of your own, there is nothing to start"),
    host_columns=(PEER_ID,),
)
