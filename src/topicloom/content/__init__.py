"""Content-based publish/subscribe at minimum cost [Zhao2011]. Where to look:

model/      problem and plan, and their folders
planners/   one file per algorithm, listed in its registry; costs and bounds
traffic/    channels made of range subscriptions
brokers/    a broker and its users, without clock or socket
simulator/  both in virtual time
spark/      publication logs and price tables on Spark
jobs/       what the commands do
kernels/    inner loops
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from topicloom.content.model.problem import ContentProblem
    from topicloom.content.planners.bounds import lower_bound
    from topicloom.content.planners.cost import measure_cost
    from topicloom.content.planners.local_search import plan_local_search
    from topicloom.content.planners.registry import PLANNERS
    from topicloom.content.workload import generate_content

__all__ = [
    "PLANNERS",
    "ContentProblem",
    "generate_content",
    "lower_bound",
    "measure_cost",
    "plan_local_search",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ContentProblem": "model.problem",
        "lower_bound": "planners.bounds",
        "measure_cost": "planners.cost",
        "plan_local_search": "planners.local_search",
        "PLANNERS": "planners.registry",
        "generate_content": "workload",
    },
)
