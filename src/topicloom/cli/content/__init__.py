"""Content-based publish/subscribe at minimum cost: which broker each user should connect to.

A problem is a folder of tables: brokers with capacities, prices of links, what users publish and want on each
channel.
"""

from __future__ import annotations

from topicloom.cli.commands import group_app

COMMANDS = ("generate", "traffic", "plan", "cost", "simulate")
EXAMPLES = """
topicloom content generate problem --users 1000 --brokers 10 --channels 20
topicloom content traffic --log log.parquet --subscriptions subscriptions.csv --out problem
topicloom content plan problem --out plan
topicloom content cost problem plan
"""

app = group_app("content", __name__, COMMANDS, __doc__, EXAMPLES)
