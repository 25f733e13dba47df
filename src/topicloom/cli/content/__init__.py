"""`topicloom content ...`: one file per command of content-based planning."""

from __future__ import annotations

from topicloom.cli.commands import group_app

COMMANDS = {
    "generate": "Write a random content problem: users who publish by quadratic densities and want one "
    "interval each.",
    "traffic": "Turn a publication log and range subscriptions into the rates, wants and channels of a "
    "content problem.",
    "plan": "Assign every user of a content problem to one broker so that all traffic costs little.",
    "cost": "Evaluate any assignment of a problem's users to its brokers, exactly.",
    "simulate": "Let brokers move their users to cheaper brokers by themselves, from a random start, in "
    "virtual time.",
}
EXAMPLES = """
topicloom content generate problem --users 1000 --brokers 10 --channels 20
topicloom content traffic --log log.parquet --subscriptions subscriptions.csv --out problem
topicloom content plan problem --out plan
topicloom content cost problem plan
"""

app = group_app(
    "content",
    __name__,
    COMMANDS,
    "Content-based publish/subscribe at minimum cost: which broker each user should connect to.\n\n"
    "A problem is a folder of tables: brokers with capacities, prices of links, what users publish and "
    "want on each channel.",
    EXAMPLES,
)
