"""All tables of rules, as `topicloom simulate --rules` prints them."""

from __future__ import annotations

from topicloom.spidercast.protocol import event_rules, gossip_rules, link_rules, root_rules

TABLES = {
    "A maintenance task and one other node": link_rules.rule_table,
    "One topic and its root": root_rules.rule_table,
    "A gossiped view and one other node": gossip_rules.rule_table,
    "One neighbor and the events of one topic": event_rules.rule_table,
}


def all_tables() -> str:
    """Return the tables one below the other, each under its title.

    >>> all_tables().splitlines()[0]
    'A maintenance task and one other node'
    """
    return "\n\n".join(f"{title}\n{table()}" for title, table in TABLES.items())
