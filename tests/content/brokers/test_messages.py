"""Bytes that are no message."""

from __future__ import annotations

import pytest

from topicloom.content.brokers.messages import CODEC
from topicloom.errors import ProtocolError


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\x81\xa4type\xa6letter"])
def test_bytes_that_are_no_message_are_refused(data):
    with pytest.raises(ProtocolError, match="not a message"):
        CODEC.decode(data)
