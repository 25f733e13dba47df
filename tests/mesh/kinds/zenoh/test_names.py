"""Names of topics, judged by the library's own parser."""

from __future__ import annotations

import pytest

from brokers_present import zenoh_module
from mesh.nasty_topics import NASTY
from topicloom.mesh.kinds.zenoh.names import NAMES


def test_zenoh_takes_every_name_as_a_key() -> None:
    """The library's own parser judges; a wildcard would be accepted too, so none may be in a name."""
    zenoh = zenoh_module()
    for topic in NASTY:
        name = NAMES.encode(topic)
        assert str(zenoh.KeyExpr(name)) == name
        assert not set(name) & set("*$?#")
    with pytest.raises(zenoh.ZError):
        zenoh.KeyExpr("a//b")
