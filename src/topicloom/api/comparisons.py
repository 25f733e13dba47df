"""Several builders on one interest, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topicloom.api.arguments import InterestLike, as_interest
from topicloom.api.overlays import build
from topicloom.base.counts import counted
from topicloom.base.late_methods import late_method
from topicloom.base.progress import Progress
from topicloom.errors import UsageError
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.python_tables import refuse

if TYPE_CHECKING:
    import pandas

DEFAULT = ("balanced", "gm", "gm-m", "ring-pt")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BuildComparison:
    """Several builds of one interest; notebooks show them as charts side by side."""

    interest: Interest
    builds: tuple[Build, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each build: edges, degrees, and the hops inside topics."""
        from topicloom.overlay.jobs.frontier import hops_inside

        rows = []
        for one in self.builds:
            average = 2 * one.n_edges / max(self.interest.n_nodes, 1)
            row = {"algorithm": one.algorithm, "edges": one.n_edges, "degree_avg": average}
            rows.append(row | {"degree_max": one.degree_max} | hops_inside(self.interest, one.overlay))
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def __iter__(self) -> Iterator[Build]:
        return iter(self.builds)

    def __repr__(self) -> str:
        lines = [f"BuildComparison of {self.interest!r}"]
        for one in self.builds:
            edges = counted(one.n_edges, "edge")
            lines.append(f"  {one.algorithm:<12} {edges:>15}, maximum degree {one.degree_max:,}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        html: str = late_method(self, "_repr_html_")(self)
        return html


def compare(
    interest: InterestLike,
    algorithms: Sequence[str] = DEFAULT,
    *,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> BuildComparison:
    """Build with several algorithms in memory; `parameters` are those of each builder, by its name.

    >>> wants = [("a", "x"), ("b", "x"), ("c", "x")]
    >>> found = compare(wants, ["gm", "star"], parameters={"gm": {"redundancy": 2}})
    >>> [(one.algorithm, one.n_edges) for one in found]
    [('gm', 3), ('star', 2)]
    """
    found = as_interest(interest)
    if isinstance(algorithms, str) or not isinstance(algorithms, Sequence) or not algorithms:
        raise refuse("algorithms", "a list of names of builders", algorithms)
    if not isinstance(parameters, Mapping | None):
        raise refuse("parameters", "a dictionary of parameters by builder", parameters)
    wrong = next((name for name in algorithms if not isinstance(name, str)), None)
    if wrong is not None:
        raise refuse("algorithms", "a list of names of builders", wrong)
    if len(set(algorithms)) < len(algorithms):
        raise UsageError(f"`algorithms` names a builder twice: {', '.join(algorithms)}")
    own = dict(parameters or {})
    for name, values in own.items():
        if not isinstance(values, Mapping):
            raise refuse(f"parameters[{name!r}]", "a dictionary of parameters", values)
        if name not in algorithms:
            raise UsageError(
                f"`parameters`: {name!r} is none of the builders compared: {', '.join(algorithms)}"
            )
    made = [
        build(found, name, seed=seed, threads=threads, progress=progress, **own.get(name, {}))
        for name in algorithms
    ]
    return BuildComparison(found, tuple(made))
