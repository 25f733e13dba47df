"""Every table and figure that can be run again: one line each, in the order of the page.

To add one, write a file with an `EXPERIMENT` in the folder of its paper and add its line here.
"""

from __future__ import annotations

from importlib import import_module

from topicloom.errors import UsageError
from topicloom.experiments.model import PAPERS, Experiment

ALL = "all"
MODULES = (
    "chockler2007a.fig2",
    "chockler2007a.fig3",
    "chockler2007a.fig4a",
    "chockler2007a.fig4b",
    "chockler2007a.lemma66",
    "chen2010.fig2",
    "chen2010.lemma8",
    "chen2010.table2",
    "chen2010.table3",
    "chen2010.table4",
    "chen2010.fig4",
    "chen2010.fig5",
    "chen2010.fig6",
    "chen2010.fig7",
    "chen2010.fig8",
    "chen2010.fig9",
    "onus2016.fig1",
    "onus2016.fig3",
    "onus2016.fig8",
    "onus2016.fig9",
    "onus2016.fig10",
    "onus2016.table2",
    "onus2016.lemmas",
    "chockler2007b.fig6",
    "chockler2007b.fig7",
    "chockler2007b.fig8",
    "chockler2007b.fig8b",
    "chockler2007b.fig9",
    "chockler2007b.fig10",
    "chockler2007b.fig11",
    "chockler2007b.fig12",
    "chockler2007b.fig14",
    "zhao2011.fig9",
    "zhao2011.fig10",
    "zhao2011.table1",
)


def _load(module: str) -> Experiment:
    found: Experiment = import_module(f"topicloom.experiments.{module}").EXPERIMENT
    return found


EXPERIMENTS: dict[str, Experiment] = {module.replace(".", "-"): _load(module) for module in MODULES}


def is_known(name: str) -> bool:
    """Return whether there is an experiment, or a paper with experiments, of this name."""
    return name == ALL or name in PAPERS or name in EXPERIMENTS


def find_experiments(name: str) -> dict[str, Experiment]:
    """Return the experiments that a name stands for: one, those of a paper, or all."""
    if name in EXPERIMENTS:
        return {name: EXPERIMENTS[name]}
    found = {key: one for key, one in EXPERIMENTS.items() if name in (ALL, key.partition("-")[0])}
    if not found:
        raise UsageError(f"`name={name}`: take all, a paper ({', '.join(PAPERS)}) or an experiment")
    return found
