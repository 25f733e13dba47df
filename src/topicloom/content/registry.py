"""All planners by name, in the order of `topicloom content plan --list`."""

from __future__ import annotations

from topicloom.content.entry import Planner

PLANNERS: dict[str, Planner] = {}

DEFAULT = "local-search"
