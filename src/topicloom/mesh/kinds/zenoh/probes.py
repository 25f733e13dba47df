"""Messages that show when interest has spread: each sender sends until all hearers got its last one.

Routers could say which subscribers they know, but asking them is not safe (see router_process.py). A message
that arrives proves more. Messages of one sender keep their order, so once the last one is everywhere no other
is under way: nothing of this is left when the counting begins.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from itertools import count

MARK = b"?"  # messages of a proof are numbers
AGAIN = 0.1  # seconds until a sender that did not reach all tries again; twice as many each time
Sender = tuple[str, str]  # a node and a topic

_numbers = count()  # of this process: what older clients sent is told from what these did


def is_probe(payload: bytes) -> bool:
    return payload.startswith(MARK)


@dataclass(slots=True)
class _Sent:
    last: bytes
    again: float  # when to send the next one
    pause: float
    reached: dict[str, bytes] = field(default_factory=dict)  # hearer -> the probe that it got last


class Probes:
    """Who sent what, and whom it reached.

    >>> probes = Probes(lambda: 0.0)
    >>> probe = probes.next(("a", "x"), {"b"})
    >>> probes.missing(("a", "x"), {"b"})
    1
    >>> probes.arrived("b", probe)
    >>> probes.missing(("a", "x"), {"b"})
    0
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._sent: dict[Sender, _Sent] = {}
        self._senders: dict[bytes, Sender] = {}

    def next(self, sender: Sender, due: Set[str]) -> bytes | None:
        """Return what to send now; None: it reached all these hearers, or it is too early to try again."""
        now, sent = self._now(), self._sent.get(sender)
        if not due or (sent is not None and (due <= sent.reached.keys() or now < sent.again)):
            return None
        probe = MARK + str(next(_numbers)).encode()
        pause = AGAIN if sent is None else 2 * sent.pause
        self._sent[sender] = _Sent(probe, now + pause, pause, {} if sent is None else sent.reached)
        self._senders[probe] = sender
        return probe

    def arrived(self, hearer: str, probe: bytes) -> None:
        """Take note of what a hearer got; nothing happens if it was sent by others."""
        if (sender := self._senders.get(probe)) is not None:
            self._sent[sender].reached[hearer] = probe

    def missing(self, sender: Sender, due: Set[str]) -> int:
        """Count those of these hearers that did not get the last one yet."""
        sent = self._sent.get(sender)
        return len(due) if sent is None else sum(sent.reached.get(one) != sent.last for one in due)
