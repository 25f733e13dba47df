"""How long each phase took."""

from __future__ import annotations

from topicloom.report.figures import Axis, Bar, BarChart, Part, Section
from topicloom.report.sections.words import overlay_of, seconds
from topicloom.report.sources.subject import BuildView, SimulationSubject, Subject


def make_times(subject: Subject) -> Section | None:
    """Return the phases of every build."""
    found = overlay_of(subject)
    if found is None:
        return None
    steps = [
        {name: value for name, value in view.summary.seconds.items() if name != "total" and value > 0}
        for view in found.builds
    ]
    if not any(steps):
        return None
    names = list(dict.fromkeys(name for phases in steps for name in phases))
    about = f"Steps: {', '.join(names)}."
    charts = [_bars("times", "Time by step", about, names, found.builds, steps)]
    inner = [{n: v for n, v in view.summary.phases.items() if v > 0} for view in found.builds]
    if any(len(phases) > 1 for phases in inner):
        own = list(dict.fromkeys(name for phases in inner for name in phases))
        charts.append(
            _bars("phases", "Inside the builders", "Each builder's own phases.", own, found.builds, inner)
        )
    total = sum(view.summary.seconds.get("total", 0.0) for view in found.builds)
    what = "The simulation" if isinstance(subject, SimulationSubject) else "The build"
    lead = f"{what} took {seconds(total)} in all."
    if len(found.builds) > 1:
        lead = (
            f"The builds took {seconds(total)} together; each counts reading the table, as if it were alone."
        )
    return Section(title="Where the time went", lead=lead, charts=charts)


def _bars(
    key: str,
    title: str,
    about: str,
    names: list[str],
    builds: tuple[BuildView, ...],
    steps: list[dict[str, float]],
) -> BarChart:
    bars = [
        Bar(
            label=view.name, parts=[Part(n, float(f"{phases.get(n, 0.0):.4g}")) for n in names], key=view.name
        )
        for view, phases in zip(builds, steps, strict=True)
    ]
    return BarChart(
        key=key,
        title=title,
        about=about,
        x=Axis(title="seconds", unit=" s"),
        bars=bars,
        names=names,
        link="build",
    )
