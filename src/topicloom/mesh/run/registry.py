"""All kinds of brokers that can be run: one line each. Their client libraries load only when asked for."""

from __future__ import annotations

from importlib import import_module

from topicloom.errors import UsageError
from topicloom.mesh.run.target import Target

TARGETS: dict[str, str] = {
    "mosquitto": "topicloom.mesh.kinds.mosquitto.target:Mosquitto",
    "nats": "topicloom.mesh.kinds.nats.target:Nats",
    "zenoh": "topicloom.mesh.kinds.zenoh.target:Zenoh",
}
"""Kind -> module:class; the class takes no arguments and is a Target."""


def load_target(kind: str) -> Target:
    """The target of this kind, with its program and library looked for."""
    if kind not in TARGETS:
        raise UsageError(f"cannot run {kind}; kinds that can be run are {', '.join(TARGETS)}")
    module, _, name = TARGETS[kind].partition(":")
    target: Target = getattr(import_module(module), name)()
    target.check_present()
    return target
