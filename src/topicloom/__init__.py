"""topicloom designs and proves publish/subscribe overlays.

    import topicloom
    interest = topicloom.read("table.csv")
    build = topicloom.build(interest, algorithm="gm-m")
    topicloom.verify(interest, build).topic_connected

Names are loaded when first used: importing topicloom starts no JVM and compiles no kernel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topicloom.version import __version__

if TYPE_CHECKING:
    from topicloom.api import build, load_build, load_graph, measure, read, verify
    from topicloom.model.build import Build
    from topicloom.model.constraints import Constraints
    from topicloom.model.interest import Interest
    from topicloom.model.overlay import Overlay
    from topicloom.model.verdict import Verdict

__all__ = [
    "Build",
    "Constraints",
    "Interest",
    "Overlay",
    "Verdict",
    "__version__",
    "build",
    "load_build",
    "load_graph",
    "measure",
    "read",
    "verify",
]

_HOMES = {
    "Build": "topicloom.model.build",
    "Constraints": "topicloom.model.constraints",
    "Interest": "topicloom.model.interest",
    "Overlay": "topicloom.model.overlay",
    "Verdict": "topicloom.model.verdict",
    **dict.fromkeys(("build", "load_build", "load_graph", "measure", "read", "verify"), "topicloom.api"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topicloom' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
