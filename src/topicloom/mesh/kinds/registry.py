"""All kinds of brokers, one line each; jobs, command line, tests and docs read this table."""

from __future__ import annotations

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
    """The kinds whose configurations can be judged."""
    return {name: kind.audit for name, kind in KINDS.items() if isinstance(kind.audit, AuditSupport)}


def runnable() -> dict[str, RunSupport]:
    """The kinds that can be run on this machine."""
    return {name: kind.run for name, kind in KINDS.items() if isinstance(kind.run, RunSupport)}


def host_columns() -> tuple[str, ...]:
    """Columns of a hosts file that some kind reads."""
    return tuple(dict.fromkeys(column for kind in KINDS.values() for column in kind.host_columns))


def find_auditing(name: str) -> AuditSupport[Any]:
    """How configurations of this kind are judged; refused if they cannot be."""
    known = auditable()
    if name not in known:
        why, others = _why(name, "audit"), ", ".join(known)
        raise UsageError(f"cannot verify {name}{why}; kinds that can be verified are {others}")
    return known[name]


def find_running(name: str) -> RunSupport:
    """How a mesh of this kind is run; refused if it cannot be."""
    known = runnable()
    if name not in known:
        why, others = _why(name, "run"), ", ".join(known)
        raise UsageError(f"cannot run {name}{why}; kinds that can be run are {others}")
    return known[name]


def load_adapter(name: str) -> BrokerAdapter:
    """The target of this kind, with its program and library looked for."""
    target = find_running(name).load()
    target.check_present()
    return target


def _why(name: str, part: str) -> str:
    found = getattr(KINDS.get(name), part, None)
    return f": {found.why}" if isinstance(found, Unable) else ""
