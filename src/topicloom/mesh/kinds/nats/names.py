"""What topics are called at NATS servers."""

from __future__ import annotations

from topicloom.mesh.plan.names import name_rule

# Wildcards; tokens between dots may not be empty; $ and the two prefixes belong to the server.
NAMES = name_rule(
    "nats",
    r"[*>]|^\$|^\.|(?<=\.)\.|\.\Z|^_(?=G?R_\.)",
    3_840,
    "with its reply it must fit into a control line of NATS, 4,096 bytes",
)
