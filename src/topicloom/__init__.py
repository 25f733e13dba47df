"""topicloom designs and proves publish/subscribe overlays.

    import topicloom
    interest = topicloom.read("table.csv")
    build = topicloom.build(interest, algorithm="gm-m")
    topicloom.verify(interest, build).topic_connected

Names are loaded when first used: importing topicloom starts no JVM and compiles no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.lazy_names import lazy_names
from topicloom.version import __version__

if TYPE_CHECKING:
    from topicloom.api import BuildComparison, build, compare, load_build, load_graph, measure, read, verify
    from topicloom.overlay.model.build import Build
    from topicloom.overlay.model.constraints import Constraints
    from topicloom.overlay.model.interest import Interest
    from topicloom.overlay.model.overlay import Overlay
    from topicloom.overlay.model.verdict import Verdict

__all__ = [
    "Build",
    "BuildComparison",
    "Constraints",
    "Interest",
    "Overlay",
    "Verdict",
    "__version__",
    "build",
    "compare",
    "load_build",
    "load_graph",
    "measure",
    "read",
    "verify",
]

API = ("BuildComparison", "build", "compare", "load_build", "load_graph", "measure", "read", "verify")

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Build": "overlay.model.build",
        "Constraints": "overlay.model.constraints",
        "Interest": "overlay.model.interest",
        "Overlay": "overlay.model.overlay",
        "Verdict": "overlay.model.verdict",
        **dict.fromkeys(API, "api"),
    },
)
