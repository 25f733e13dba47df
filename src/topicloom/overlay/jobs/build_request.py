"""What to build and how: the request, the whole task around it, and what summary.json says of the result.

Where a build runs, in this process or on Spark, is decided by size, not by what the machine happens to have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from topicloom.base.progress import Progress
from topicloom.base.summaries import UNSET, Parameters, Seconds
from topicloom.errors import UsageError
from topicloom.overlay.builders.default import DEFAULT, Extent, choose_default, told_parameters
from topicloom.overlay.builders.registry import (
    BUILDERS,
    aim_settings,
    check_honours,
    find_builder,
    parse_parameters,
    run_builder,
)
from topicloom.overlay.jobs.build_place import BuildPlace
from topicloom.overlay.jobs.constraints import ConstraintFiles
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest, too_large_told
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Verdict, VerdictSummary
from topicloom.overlay.spark.builders import SparkBuild
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.source import TableSource
from topicloom.tables.spark.spark_choice import Notice, no_notice

NO_LIMITS = ConstraintFiles()

# Up to so many subscriptions `auto` builds in this process, which then needs about 3 GB at most.
LOCAL_SUBSCRIPTIONS = 10_000_000


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build and how, checked before any work begins."""

    algorithm: str
    parameters: Parameters
    seed: int = 0
    threads: int | None = None
    constraints: Constraints = UNCONSTRAINED
    start: Overlay | None = None
    certify: bool = False
    named: bool = True  # False: the algorithm may still be changed to suit the interest
    fixed: bool = False  # parameters were given, which only this algorithm knows
    reason: str = ""
    engine_reason: str = ""

    @classmethod
    def of(
        cls,
        algorithm: str | None,
        settings: Sequence[str],
        *,
        max_hops: str | None = None,
        max_degree: str | None = None,
        survive: str | None = None,
        extra_edges: str | None = None,
        max_edges: str | None = None,
        seed: int = 0,
        threads: int | None = None,
        certify: bool = False,
    ) -> BuildRequest:
        """Make a request from texts such as `key=value`; unknown names and values are refused.

        With `max_edges` and no algorithm it is gm, which stops there.
        """
        if algorithm is None and max_edges is not None:
            algorithm = "gm"
        name = algorithm or DEFAULT
        given = {"max_hops": max_hops, "max_degree": max_degree, "survive": survive}
        given["max_edges"] = max_edges
        aims = aim_settings(name, given | {"extra_edges": extra_edges and extra_edges.removesuffix("%")})
        parameters = parse_parameters(name, [*settings, *aims])
        fixed = parameters != parse_parameters(DEFAULT, [])
        return cls(name, parameters, seed, threads, certify=certify, named=algorithm is not None, fixed=fixed)

    @property
    def survive(self) -> int:
        """Return how many deaths every topic is to survive."""
        return int(self.parameters.get("survive", 0))

    @property
    def bound(self) -> bool:
        """Are there parameters or constraints that only the default builder knows?"""
        return self.fixed or bool(self.constraints.kinds()) or self.start is not None

    def settled(self, extent: Extent) -> BuildRequest:
        """Choose the builder that suits an interest of this extent, and say why, if none was named."""
        if self.named:
            return self
        here = extent.n_subscriptions <= LOCAL_SUBSCRIPTIONS
        choice = choose_default(extent, self.parameters, bound=self.bound, here=here)
        return replace(
            self, algorithm=choice.algorithm, parameters=choice.parameters, reason=choice.reason, named=True
        )

    def work_told(self, extent: Extent) -> str:
        """Return how long the default builder will search, if it was named and that is left to it."""
        if self.algorithm != DEFAULT or self.reason or self.parameters.get("work") != "auto":
            return ""
        return f"{DEFAULT}: {told_parameters(extent, self.parameters)}"

    def run(self, interest: Interest, progress: Progress) -> Build:
        """Call the builder in this process."""
        return run_builder(
            self.algorithm,
            interest,
            constraints=self.constraints,
            start=self.start,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
            **self.parameters,
        )


@dataclass(frozen=True, slots=True)
class BuildTask:
    """From which table to which place, and how; `remark` hears what was chosen and why.

    With `edges` there is an overlay already, which Spark is to improve.
    """

    table: InterestTable
    out: BuildPlace
    request: BuildRequest
    limits: ConstraintFiles = NO_LIMITS
    resume: bool = False
    remark: Notice = no_notice
    edges: TableSource | None = None

    @property
    def progress(self) -> Progress:
        return self.table.progress

    @property
    def engine(self) -> str:
        return self.table.spark.engine

    @property
    def in_memory(self) -> str | None:
        """Return an option that needs the interest in memory, if one was given."""
        return next((f"`{kind}`" for kind in self.limits.kinds()), None)

    @property
    def goes_on(self) -> bool:
        """Is there an unfinished run to be taken up? Only Spark leaves one."""
        return self.resume and self.out.unfinished()

    def check(self) -> None:
        """Refuse what cannot be done."""
        self.out.check(resume=self.resume)
        check_honours(self.request.algorithm, self.limits.kinds())
        named = self.request.algorithm if self.request.named else None
        engine = "spark" if self.goes_on else self.engine
        check_engine(engine, named, in_memory=self.in_memory, resume=self.resume)
        self.limits.check_there()


def check_engine(engine: str, algorithm: str | None, *, in_memory: str | None, resume: bool) -> None:
    """Refuse an engine that cannot do what is asked; `in_memory` names an option that Spark cannot take."""
    if engine == "spark" and algorithm is not None and "spark" not in find_builder(algorithm).engines:
        able = [name for name, builder in BUILDERS.items() if "spark" in builder.engines]
        raise UsageError(f"`engine=spark`: {algorithm} runs on local only; {', '.join(able)} run on spark")
    if engine == "spark" and in_memory is not None:
        raise UsageError(
            f"{in_memory} needs the interest in memory, and this build runs on Spark: leave it out"
        )
    if engine == "local" and resume:
        raise UsageError(
            "`resume`: only `engine=spark` keeps what a run has done so far; leave one of them out"
        )


def check_collected(task: BuildTask) -> None:
    """Refuse a builder of one process for a table that does not fit into it."""
    request, able = task.request, [name for name, one in BUILDERS.items() if "spark" in one.engines]
    if request.named and request.algorithm not in able:
        raise UsageError(
            f"{too_large_told(task.table.source.path)}; `algorithm={request.algorithm}` builds in one "
            f"process, {', '.join(able)} on Spark"
        )


def choose_engine(algorithm: str, subscriptions: int) -> tuple[str, str]:
    """Return what `--engine auto` means for this builder and so many subscriptions, and why.

    The reason is empty where nobody needs to be told.
    """
    if "spark" not in find_builder(algorithm).engines:
        return "local", ""
    size = f"{subscriptions:,} subscriptions"
    if subscriptions <= LOCAL_SUBSCRIPTIONS:
        why = f"{size}, up to {LOCAL_SUBSCRIPTIONS:,} are built in this process; or give `engine=spark`"
        return "local", f"engine local: {why}"
    why = f"{size}, more than the {LOCAL_SUBSCRIPTIONS:,} that are built in this process"
    return "spark", f"engine spark: {why}; `engine=local` does so all the same"


def summarise_build(
    request: BuildRequest,
    engine: str,
    table: LoadedInterest | EncodedInterest,
    build: Build | SparkBuild,
    verdict: Verdict | VerdictSummary,
    phases: Mapping[str, float],
    seconds: Seconds,
) -> BuildSummary:
    """Return the content of summary.json."""
    interest = table.interest if isinstance(table, LoadedInterest) else table
    return BuildSummary(
        algorithm=request.algorithm,
        choice=request.reason or UNSET,
        engine=engine,
        engine_choice=request.engine_reason or UNSET,
        parameters=build.parameters,
        seed=request.seed,
        nodes=interest.n_nodes,
        topics=interest.n_topics,
        subscriptions=interest.n_subscriptions,
        duplicates=table.duplicates,
        rejected=table.rejected,
        rejects=table.refused.by_reason() if table.rejected else UNSET,
        only_rejected={f"{name}s": lost.count for name, lost in table.refused.lost.items()} or UNSET,
        interest_digest=table.digest,
        edges=build.n_edges,
        degree_max=build.degree_max,
        degree_avg=2.0 * build.n_edges / interest.n_nodes if interest.n_nodes else 0.0,
        topic_components=verdict.topic_components,
        topics_partitioned=verdict.topics_partitioned,
        topic_connected=verdict.topic_connected,
        survival=verdict.survival if isinstance(verdict, Verdict) else UNSET,
        phases=dict(phases),
        report=build.report,
        seconds=seconds,
    )
