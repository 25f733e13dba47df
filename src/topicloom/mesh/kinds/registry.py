"""All kinds of brokers, one line each; jobs, command line, tests and docs read this table."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from topicloom.errors import UsageError
from topicloom.mesh.kinds.gossipsub.kind import GOSSIPSUB
from topicloom.mesh.kinds.kind import AuditSupport, BrokerKind, RunSupport, Unable
from topicloom.mesh.kinds.mosquitto.kind import MOSQUITTO
from topicloom.mesh.kinds.nats.kind import NATS
from topicloom.mesh.kinds.zenoh.kind import ZENOH
from topicloom.mesh.run.adapter import BrokerAdapter

KINDS: dict[str, BrokerKind] = {kind.name: kind for kind in (MOSQUITTO, NATS, ZENOH, GOSSIPSUB)}


def auditable() -> dict[str, AuditSupport[Any]]:
    """Return the kinds whose configurations can be judged."""
    return {name: kind.audit for name, kind in KINDS.items() if isinstance(kind.audit, AuditSupport)}


def runnable() -> dict[str, RunSupport]:
    """Return the kinds that can be run on this machine."""
    return {name: kind.run for name, kind in KINDS.items() if isinstance(kind.run, RunSupport)}


def host_columns() -> tuple[str, ...]:
    """Return the columns of a hosts file that some kind reads."""
    return tuple(dict.fromkeys(column for kind in KINDS.values() for column in kind.host_columns))


def find_auditing(name: str) -> AuditSupport[Any]:
    """Return how configurations of this kind are judged; refuse a kind that cannot be."""
    part = KINDS[name].audit if name in KINDS else None
    if isinstance(part, AuditSupport):
        return part
    raise UsageError(
        f"cannot verify {name}{_why(part)}; kinds that can be verified are {', '.join(auditable())}"
    )


def find_running(name: str) -> RunSupport:
    """Return how a mesh of this kind is run; refuse a kind that cannot be."""
    part = KINDS[name].run if name in KINDS else None
    if isinstance(part, RunSupport):
        return part
    raise UsageError(f"cannot run {name}{_why(part)}; kinds that can be run are {', '.join(runnable())}")


def _why(part: Unable | None) -> str:
    return f": {part.why}" if part else ""


def load_adapter(name: str) -> BrokerAdapter:
    """Load the adapter of this kind, and look for its program and library."""
    module, _, adapter = find_running(name).adapter.partition(":")
    found: BrokerAdapter = getattr(import_module(f"{__package__}.{module}"), adapter)()
    found.check_present()
    return found
