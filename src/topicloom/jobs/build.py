"""Build an overlay from a table: ingest, build, prove, write a build folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topicloom.builders.default import DEFAULT, choose_default
from topicloom.builders.registry import check_honours, find_builder, parse_parameters, run_builder
from topicloom.errors import UsageError
from topicloom.files.atomic import replacing
from topicloom.files.build_folder import (
    EDGES,
    FORMAT,
    INTEREST,
    REJECTS,
    SUMMARY,
    check_replaceable,
    write_json,
    write_table,
)
from topicloom.jobs.certify import certify
from topicloom.jobs.constraints import ConstraintFiles, load_constraints
from topicloom.jobs.inputs import LoadedInterest, Notice, SparkChoice, load_interest, no_notice
from topicloom.jobs.verify import judge
from topicloom.model.build import Build
from topicloom.model.constraints import UNCONSTRAINED, Constraints
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import SILENT, Progress
from topicloom.model.verdict import Verdict
from topicloom.spark.source import TableSource
from topicloom.version import __version__

NO_LIMITS = ConstraintFiles()


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build and how, checked before any work begins."""

    algorithm: str
    parameters: dict[str, Any]
    seed: int = 0
    threads: int | None = None
    constraints: Constraints = UNCONSTRAINED
    existing: Overlay | None = None
    certify: bool = False
    named: bool = True  # False: the algorithm may still be changed to suit the interest
    reason: str = ""

    @classmethod
    def of(
        cls,
        algorithm: str | None,
        settings: Sequence[str],
        *,
        seed: int = 0,
        threads: int | None = None,
        certify: bool = False,
    ) -> BuildRequest:
        """From texts such as `key=value`; unknown names and values are refused here."""
        name = algorithm or DEFAULT
        parameters = parse_parameters(name, settings)
        return cls(name, parameters, seed, threads, certify=certify, named=algorithm is not None)

    def settled(self, interest: Interest) -> BuildRequest:
        """With the builder that suits `interest`, and why, if none was named."""
        if self.named:
            return self
        limited = bool(self.constraints.kinds()) or self.existing is not None
        bound = limited or self.parameters != parse_parameters(DEFAULT, [])
        choice = choose_default(interest, self.parameters, bound=bound)
        return replace(
            self, algorithm=choice.algorithm, parameters=choice.parameters, reason=choice.reason, named=True
        )

    def run(self, loaded: LoadedInterest, progress: Progress) -> Build:
        """Call the builder."""
        return run_builder(
            self.algorithm,
            loaded.interest,
            constraints=self.constraints,
            start=self.existing,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
            **self.parameters,
        )


def check_engine(engine: str, algorithm: str) -> None:
    """Refuse an engine that the algorithm does not run on."""
    engines = find_builder(algorithm).engines
    if engine not in ("auto", *engines):
        raise UsageError(f"--engine {engine}: {algorithm} runs on {', '.join(engines)} (or auto)")


def build_to_folder(
    source: TableSource,
    out: Path,
    request: BuildRequest,
    *,
    spark: SparkChoice,
    limits: ConstraintFiles = NO_LIMITS,
    subscribers_only: bool = False,
    strict: bool = False,
    notice: Notice = no_notice,
    remark: Notice = no_notice,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """The whole task; the summary that was written to `out`. `remark` hears which builder was chosen."""
    check_replaceable(out)
    check_honours(request.algorithm, limits.kinds())
    limits.check_there()
    start = progress.now()
    with spark.workspace() as work:
        loaded = load_interest(
            source,
            spark=spark,
            work=work,
            subscribers_only=subscribers_only,
            strict=strict,
            notice=notice,
            progress=progress,
        )
        constraints, existing = load_constraints(
            limits, loaded, spark=spark, notice=notice, progress=progress
        )
        request = replace(request, constraints=constraints, existing=existing).settled(loaded.interest)
        if request.reason:
            remark(request.reason)
        return build_loaded(loaded, out, request, spark=spark, start=start, progress=progress)


def build_loaded(
    loaded: LoadedInterest,
    out: Path,
    request: BuildRequest,
    *,
    spark: SparkChoice,
    start: float,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """From an interest in memory to a proved build folder; `start` is when the task began."""
    began = progress.now()
    build = request.run(loaded, progress)
    built = progress.now()
    with replacing(out) as folder:
        folder.mkdir()
        progress.phase("write tables")
        write_table(build.overlay.to_arrow(), folder / EDGES)
        write_table(loaded.interest.to_arrow(), folder / INTEREST)
        if loaded.rejected:
            loaded.write_rejects(folder / REJECTS)
        written = progress.now()
        # The judge reads what was written, not what is in memory.
        verdict = judge(folder / INTEREST, folder / EDGES, spark=spark, progress=progress)
        done = progress.now()
        seconds = {
            "ingest": began - start,
            "build": built - began,
            "verify": done - written,
            "total": done - start,
        }
        summary = summarise(loaded, build, request, verdict, seconds)
        if request.certify:
            summary |= certify(
                loaded.interest, summary, known=build.report, threads=request.threads, progress=progress
            )
            seconds["certify"] = progress.now() - done
            seconds["total"] = progress.now() - start
        write_json(summary, folder / SUMMARY)
    return summary


def summarise(
    loaded: LoadedInterest,
    build: Build,
    request: BuildRequest,
    verdict: Verdict,
    seconds: dict[str, float],
) -> dict[str, Any]:
    """The content of summary.json."""
    degrees = build.overlay.degrees()
    return {
        "format": FORMAT,
        "kind": "build",
        "version": __version__,
        "algorithm": request.algorithm,
        **({"choice": request.reason} if request.reason else {}),
        "parameters": dict(build.parameters),
        "seed": request.seed,
        "nodes": loaded.interest.n_nodes,
        "topics": loaded.interest.n_topics,
        "subscriptions": loaded.interest.n_subscriptions,
        "duplicates": loaded.duplicates,
        "rejected": loaded.rejected,
        "interest_digest": loaded.digest,
        "edges": build.overlay.n_edges,
        "degree_max": int(degrees.max()) if len(degrees) else 0,
        "degree_avg": float(degrees.mean()) if len(degrees) else 0.0,
        "topic_components": verdict.topic_components,
        "topics_partitioned": verdict.topics_partitioned,
        "topic_connected": verdict.topic_connected,
        "phases": dict(build.seconds),
        "report": dict(build.report),
        "seconds": seconds,
    }
