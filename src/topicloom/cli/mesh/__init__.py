"""Meshes of real brokers that are in use: change them without a loop.

`topicloom export` makes a mesh, `topicloom run` proves it on this machine.
"""

from __future__ import annotations

from topicloom.cli.commands import group_app

COMMANDS = ("rollout",)
EXAMPLES = """
topicloom mesh rollout brokers table.csv --out change
topicloom run mosquitto brokers --rollout change
"""

app = group_app("mesh", __name__, COMMANDS, __doc__, EXAMPLES)
