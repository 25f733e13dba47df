"""Overlays: from an interest to a proved topic-connected overlay. Where to look:

model/      interest, overlay, constraints, build, verdict, and the folder of a build
builders/   one file per algorithm, listed in its registry
measures/   numbers about an overlay, bounds, and the proof in memory
workloads/  synthetic interests
graphs/     graph files, written and read
spark/      numbering, divide and conquer and the proof on Spark
jobs/       what the commands do
kernels/    inner loops
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from topicloom.base.charts import save_chart
    from topicloom.overlay.builders.divide.combine_overlays import combine_overlays
    from topicloom.overlay.builders.divide.groups import split_bulk
    from topicloom.overlay.builders.divide.phases import choose_representatives
    from topicloom.overlay.builders.registry import ALL_KINDS, BUILDERS
    from topicloom.overlay.charts import Dot, degree_scatter, hops_scatter
    from topicloom.overlay.measures.bounds import bound_overlays
    from topicloom.overlay.model.build import Build
    from topicloom.overlay.model.constraints import Constraints
    from topicloom.overlay.model.interest import Interest
    from topicloom.overlay.model.overlay import Overlay
    from topicloom.overlay.model.verdict import Verdict
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
    from topicloom.overlay.workloads.laws import sample_path

__all__ = [
    "ALL_KINDS",
    "BUILDERS",
    "Build",
    "Constraints",
    "Dot",
    "Interest",
    "Overlay",
    "Verdict",
    "bound_overlays",
    "choose_representatives",
    "combine_overlays",
    "degree_scatter",
    "generate_interest",
    "hops_scatter",
    "sample_path",
    "save_chart",
    "split_bulk",
    "workload_from_options",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "combine_overlays": "builders.divide.combine_overlays",
        "choose_representatives": "builders.divide.phases",
        "split_bulk": "builders.divide.groups",
        "ALL_KINDS": "builders.registry",
        "BUILDERS": "builders.registry",
        "Dot": "charts",
        "degree_scatter": "charts",
        "hops_scatter": "charts",
        "bound_overlays": "measures.bounds",
        "Build": "model.build",
        "Constraints": "model.constraints",
        "Interest": "model.interest",
        "Overlay": "model.overlay",
        "sample_path": "workloads.laws",
        "Verdict": "model.verdict",
        "generate_interest": "workloads.generate",
        "workload_from_options": "workloads.generate",
        "save_chart": "topicloom.base.charts",
    },
)
