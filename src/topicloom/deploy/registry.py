"""All kinds of brokers that can be run: one line each. Their client libraries load only when asked for."""

from __future__ import annotations

from importlib import import_module

from topicloom.deploy.target import Target
from topicloom.errors import UsageError

TARGETS: dict[str, str] = {
    "mosquitto": "topicloom.deploy.mosquitto.target:Mosquitto",
    "nats": "topicloom.deploy.nats.target:Nats",
    "zenoh": "topicloom.deploy.zenoh.target:Zenoh",
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
