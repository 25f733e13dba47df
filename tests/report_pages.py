"""Pages for tests: subjects made in memory, written without Spark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from msgspec.structs import replace

import topicloom
from topicloom import Interest
from topicloom.mesh.jobs.run import RunSummary
from topicloom.mesh.run.attack import NodeAttack
from topicloom.mesh.run.failover import NodeFailover, Recovery
from topicloom.mesh.run.freeze import NodeFreeze
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.report.sources.memory import summarise, view_builds
from topicloom.report.write import write_subject
from topicloom.spidercast import Scenario, simulate
from topicloom.spidercast.jobs.simulate import summarise_last, summarise_simulation
from topicloom.spidercast.simulator.folder import write_simulation
from topicloom.tables.folder import SUMMARY, write_json, write_table

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(2)</script>",
    "'single' & \"double\" &amp;",
    "{{ 7 * 7 }} {% raw %} ${7*7} `x`",
    "x" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202eevil",
    "\U0001f984\U0001f3f3\ufe0f\u200d\U0001f308",
    "line\nbreak\ttab\r",
    "javascript:alert(3)",
    "\u2028\u2029]]>-->",
    "__proto__",
)

# How many pixels of the drawing on paper are not white, and in what theme it is shown. A change of the medium
# is heard with the next frame.
INK = """async (onPaper) => {
  const sheet = () => document.querySelector("#draw-canvas .print-only");
  for (let frame = 0; frame < 300 && Boolean(sheet()) !== onPaper; frame++)
    await new Promise(requestAnimationFrame);
  if (!sheet()) return [0, document.documentElement.dataset.theme];
  const { width, height } = sheet();
  const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(sheet(), 0, 0);
  let ink = 0;
  copy.getImageData(0, 0, width, height).data.forEach((value, at) => { ink += at % 4 === 3 && value > 40; });
  const shown = getComputedStyle(sheet()).display === "block";
  return [ink, shown ? document.documentElement.dataset.theme : "hidden"];
}"""


def small_interest(nodes: int = 40, topics: int = 9, wanted: int = 3, seed: int = 1) -> Interest:
    """Draw an interest in which each node wants some topics."""
    draw = np.random.default_rng(seed)
    return Interest.from_pairs(
        (f"n{node:04d}", f"t{topic:02d}")
        for node in range(nodes)
        for topic in draw.choice(topics, wanted, replace=False)
    )


def hostile_interest() -> Interest:
    """Return an interest whose nodes and topics have names that a page must show as they are."""
    names = list(HOSTILE)
    return Interest.from_pairs(
        (node, topic) for place, node in enumerate(names) for topic in (*names[place : place + 3], names[0])
    )


def overlay_page(out: Path, interest: Interest, *algorithms: str) -> Path:
    """Write a page about builds of an interest."""
    builds = [topicloom.build(interest, name) for name in algorithms]
    return write_subject(view_builds(interest, builds), out)


def write_course(folder: Path, interest: Interest, *settings: str) -> Path:
    """Simulate SpiderCast and write the folder that the command would write, without its charts."""
    scenario = Scenario.of("spidercast", settings)
    outcome = simulate(interest, scenario)
    loaded: Any = SimpleNamespace(
        interest=interest, duplicates=0, rejected=0, digest=interest_digest(interest)
    )
    summary = summarise_simulation(loaded, scenario, outcome, {"ingest": 0.0, "simulate": 0.0, "total": 0.0})
    write_simulation(folder, summary, outcome, summarise_last(summary, outcome))
    return folder


def made_up_run(node: str) -> RunSummary:
    """Return a run that went well until brokers were killed, frozen and attacked."""
    counts = dict.fromkeys(("missing", "duplicates", "strays", "links_at_backups"), 0)
    killed = NodeFailover(
        node=node, topics=3, interrupted=2, recovered=1, apart=0, lost=1, seconds_max=1.5, seconds_median=1.5,
        seconds_back=0.5, exact_again=True, **counts,
        by_topic=(Recovery("t00", 2, 1, 1.5), Recovery("t01", 2, 2, None)),
    )  # fmt: skip
    frozen = NodeFreeze(
        node=node, neighbors=2, noticed=1, seconds_max=None, seconds_back=0.5, exact_again=True
    )
    attack = NodeAttack(
        node=node,
        attempts=4,
        logins=1,
        taken_over=0,
        foreign_topics=6,
        read=["t00 at n0001"],
        written=[],
        limit="without TLS its place can be taken",
    )
    numbers = dict.fromkeys(RunSummary.__struct_fields__, 0)
    empty = dict.fromkeys(("missing", "duplicate_witnesses", "stray_witnesses", "usage"), ())
    return RunSummary(
        **{
            **numbers, **empty, "kind": "mosquitto", "nodes": 40, "tls": False, "storm": False,
            "exact": False, "failover": (killed,), "frozen": (frozen,), "attacks": (attack,),
        }
    )  # fmt: skip


def write_build(folder: Path, interest: Interest, algorithm: str = "gm", **changed: object) -> Path:
    """Write the folder of a build; `changed` are keys of the summary that say something else."""
    build = topicloom.build(interest, algorithm)
    folder.mkdir(parents=True)
    write_table(build.overlay.to_arrow(), folder / EDGES)
    write_table(interest.to_arrow(), folder / INTEREST)
    write_json(replace(summarise(interest, build), **changed), folder / SUMMARY)
    return folder
