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
    from topicloom import spark
    from topicloom.api.comparisons import BuildComparison, compare
    from topicloom.api.contents import PlannedContent, plan_content
    from topicloom.api.explanations import explain
    from topicloom.api.meshes import export, run_mesh
    from topicloom.api.overlays import Measures, build, generate, improve, inspect, measure, read, verify
    from topicloom.api.simulations import Simulation, simulate
    from topicloom.overlay.graphs.formats import load_graph
    from topicloom.overlay.model.build import Build
    from topicloom.overlay.model.build_folder import load_build
    from topicloom.overlay.model.constraints import Constraints
    from topicloom.overlay.model.interest import Interest
    from topicloom.overlay.model.overlay import Overlay
    from topicloom.overlay.model.verdict import Verdict
    from topicloom.tables.spark.session import stop_session

__all__ = [
    "Build",
    "BuildComparison",
    "Constraints",
    "Interest",
    "Measures",
    "Overlay",
    "PlannedContent",
    "Simulation",
    "Verdict",
    "__version__",
    "build",
    "compare",
    "explain",
    "export",
    "generate",
    "improve",
    "inspect",
    "load_build",
    "load_graph",
    "measure",
    "plan_content",
    "read",
    "run_mesh",
    "simulate",
    "spark",
    "stop_session",
    "verify",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Build": "overlay.model.build",
        "Constraints": "overlay.model.constraints",
        "Interest": "overlay.model.interest",
        "Overlay": "overlay.model.overlay",
        "Verdict": "overlay.model.verdict",
        "load_build": "overlay.model.build_folder",
        "load_graph": "overlay.graphs.formats",
        "spark": "spark",
        "stop_session": "tables.spark.session",
        **dict.fromkeys(
            ("Measures", "build", "generate", "improve", "inspect", "measure", "read", "verify"),
            "api.overlays",
        ),
        "explain": "api.explanations",
        **dict.fromkeys(("BuildComparison", "compare"), "api.comparisons"),
        **dict.fromkeys(("Simulation", "simulate"), "api.simulations"),
        **dict.fromkeys(("export", "run_mesh"), "api.meshes"),
        **dict.fromkeys(("PlannedContent", "plan_content"), "api.contents"),
    },
)
