"""Words of a NATS configuration that make a link, and words that are nearly one of them.

The server itself refuses every word that it does not know; here only those matter by which a link would be
overlooked.
"""

from __future__ import annotations

from topicloom.mesh.kinds.nats.config_language import ConfigValue
from topicloom.mesh.model.config_files import refuse_misspelt

LEAFNODES = ("leafnodes", "leaf")
LEAF_OPTIONS = ("remotes", "listen", "port", "host", "net", "authorization")
REMOTE_OPTIONS = ("url", "urls", "account", "local", "credentials", "hub", "no_randomize")


def check_words(tree: ConfigValue) -> None:
    """Refuse what is nearly a word of links, and say which one."""
    for word, block in _words(tree):
        refuse_misspelt(word, LEAFNODES, block.where)
        if word in LEAFNODES:
            for inner, value in _words(block):
                refuse_misspelt(inner, LEAF_OPTIONS, value.where)
            remotes = block.get("remotes")
            for remote in remotes.entries() if remotes else ():
                for inner, value in _words(remote):
                    refuse_misspelt(inner, REMOTE_OPTIONS, value.where)


def _words(block: ConfigValue) -> list[tuple[str, ConfigValue]]:
    if not isinstance(block.data, dict):
        return []
    return [(word.lower(), value) for word, value in block.data.items()]
