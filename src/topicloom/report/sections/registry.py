"""All sections in the order of the page. To add one, write its file and add its line here.

A section is a function from what the report is about to its content; None where it has nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable

from topicloom.report.figures import Section
from topicloom.report.sections.attacks import make_attacks
from topicloom.report.sections.compared import make_compared
from topicloom.report.sections.cost import make_cost
from topicloom.report.sections.course import make_course
from topicloom.report.sections.degrees import make_degrees
from topicloom.report.sections.drawn import make_drawn
from topicloom.report.sections.failover import make_failover
from topicloom.report.sections.frozen import make_frozen
from topicloom.report.sections.headline import make_headline
from topicloom.report.sections.hops import make_hops
from topicloom.report.sections.links import make_links
from topicloom.report.sections.loads import make_loads
from topicloom.report.sections.mesh import make_mesh
from topicloom.report.sections.mesh_commands import make_mesh_commands
from topicloom.report.sections.mesh_proof import make_mesh_proof
from topicloom.report.sections.over_time import make_over_time
from topicloom.report.sections.parameters import make_parameters
from topicloom.report.sections.plan import make_plan
from topicloom.report.sections.plan_commands import make_plan_commands
from topicloom.report.sections.proof import make_proof
from topicloom.report.sections.refused import make_refused
from topicloom.report.sections.rounds import make_rounds
from topicloom.report.sections.rounds_commands import make_rounds_commands
from topicloom.report.sections.run import make_run
from topicloom.report.sections.subscriptions import make_subscriptions
from topicloom.report.sections.times import make_times
from topicloom.report.sections.topics import make_topics
from topicloom.report.sources.subject import Subject

SECTIONS: dict[str, Callable[[Subject], Section | None]] = {
    "headline": make_headline,
    "course": make_course,
    "mesh": make_mesh,
    "plan": make_plan,
    "rounds": make_rounds,
    "run": make_run,
    "proof": make_proof,
    "mesh-proof": make_mesh_proof,
    "compared": make_compared,
    "drawing": make_drawn,
    "over-time": make_over_time,
    "failover": make_failover,
    "frozen": make_frozen,
    "attacks": make_attacks,
    "links": make_links,
    "cost": make_cost,
    "loads": make_loads,
    "degrees": make_degrees,
    "subscriptions": make_subscriptions,
    "hops": make_hops,
    "topics": make_topics,
    "times": make_times,
    "refused": make_refused,
    "parameters": make_parameters,
    "mesh-commands": make_mesh_commands,
    "plan-commands": make_plan_commands,
    "rounds-commands": make_rounds_commands,
}


def make_sections(subject: Subject) -> dict[str, Section]:
    """Return all sections that have something to say, by their keys."""
    found = {key: make(subject) for key, make in SECTIONS.items()}
    return {key: section for key, section in found.items() if section is not None}
