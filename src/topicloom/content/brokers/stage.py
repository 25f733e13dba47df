"""How a client stands, and what it tells about itself. Values only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from topicloom.content.brokers.messages import Name, Rates, Wants

Policy = Callable[[Name], bool]
"""May we move to this broker?"""


class Stage(Enum):
    """How a client stands."""

    IDLE = "idle"
    """Not started, or it has left."""
    REGISTERING = "registering"
    ATTACHED = "attached"
    CONNECTING = "connecting"
    """Attached, and on the way to a foreign broker."""


@dataclass(slots=True)
class Statement:
    """What a client tells about itself; `version` rises with each change."""

    wants: Wants
    rates: Rates | None
    version: int
