"""What topics are called at Mosquitto brokers."""

from __future__ import annotations

from topicloom.mesh.plan.names import name_rule

MOST_SLASHES = 200  # Mosquitto refuses topics of more (TOPIC_HIERARCHY_LIMIT)

# Wildcards; $ begins the broker's own topics; quotes mean something in mosquitto.conf.
NAMES = name_rule(
    "mosquitto",
    r'[#+"]|^\$',
    65_535,
    "MQTT names have at most 65,535 bytes",
    most_slashes=MOST_SLASHES,
)
