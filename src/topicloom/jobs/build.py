"""Build an overlay from a table: ingest, build, prove, write a build folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicloom.builders.registry import find_builder, parse_parameters
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
from topicloom.jobs.inputs import LoadedInterest, SparkChoice, load_interest
from topicloom.jobs.verify import judge
from topicloom.model.build import Build
from topicloom.model.progress import SILENT, Progress
from topicloom.model.verdict import Verdict
from topicloom.spark.source import TableSource
from topicloom.version import __version__


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build and how, checked before any work begins."""

    algorithm: str
    parameters: dict[str, Any]
    seed: int = 0
    threads: int | None = None

    @classmethod
    def of(
        cls, algorithm: str, settings: Sequence[str], *, seed: int = 0, threads: int | None = None
    ) -> BuildRequest:
        """From texts such as `key=value`; unknown names and values are refused here."""
        return cls(algorithm, parse_parameters(algorithm, settings), seed, threads)

    def run(self, loaded: LoadedInterest, progress: Progress) -> Build:
        """Call the builder."""
        return find_builder(self.algorithm).build(
            loaded.interest, seed=self.seed, threads=self.threads, progress=progress, **self.parameters
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
    subscribers_only: bool = False,
    strict: bool = False,
    notice: Callable[[str], None] = lambda text: None,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """The whole task; the summary that was written to `out`."""
    check_replaceable(out)
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
