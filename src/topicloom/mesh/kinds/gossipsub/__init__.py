"""GossipSub: lists of direct peers for nodes of libp2p."""
