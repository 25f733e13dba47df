"""What topics are called at Zenoh routers."""

from __future__ import annotations

from topicloom.mesh.plan.names import name_rule

# Wildcards and what is reserved; chunks between slashes may not be empty; @ hides a chunk from wildcards.
NAMES = name_rule(
    "zenoh",
    r"[*$#?]|^/|(?<=/)/|/\Z|(?:^|(?<=/))@",
    60_000,
    "its declaration must fit into a batch of Zenoh",
)
