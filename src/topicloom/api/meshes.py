"""Real brokers: a build becomes their configurations, and these are run on this machine and judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from topicloom.api.arguments import (
    EdgesLike,
    InterestLike,
    PathLike,
    as_overlay,
    check_flag,
    check_path,
    check_seconds,
    check_text,
    check_whole,
    clock,
    interest_beside,
)
from topicloom.base.progress import Progress
from topicloom.base.warn import warn_caller
from topicloom.errors import UsageError
from topicloom.mesh.jobs.export import ExportOptions, ExportSummary, export_table
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import refuse

if TYPE_CHECKING:  # running brokers needs more than exporting should wait for
    from topicloom.mesh.jobs.run import RunSummary

FILES, NUMBERS = ("hosts", "credentials", "tls", "tls_at"), ("backups", "split", "queue", "seed")


def export(
    kind: str,
    edges: EdgesLike,
    out: PathLike,
    *,
    interest: InterestLike | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> ExportSummary:
    """Write a build as configurations of brokers or as a graph file; `options` are those of the kind.

    Edges of your own (pairs, a frame, a graph) need the `interest` beside them. What must not be missed is a
    `UserWarning`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = export("graphml", [("a", "b")], folder, interest={"a": ["x"], "b": ["x"]})
    >>> done.links, done.files
    (1, ['manifest.json', 'overlay.graphml'])
    """
    check_text("kind", kind, "the name of a kind of export")
    known = {one.name.rstrip("_"): one.name for one in fields(ExportOptions)}
    wrong = next((name for name in options if name.rstrip("_") not in known), None)
    if wrong is not None:
        raise UsageError(f"`{wrong}`: export takes {', '.join(known)}")
    given = {known[name.rstrip("_")]: value for name, value in options.items()}
    for name, value in given.items():
        if name in FILES and value is not None:
            given[name] = check_path(name, value)
        elif name in NUMBERS:
            check_whole(name, value, none=True)
        elif name not in FILES:
            check_flag(name.rstrip("_"), value)

    def load() -> tuple[Interest, Overlay]:
        found = interest_beside(edges, interest)
        return found, as_overlay(found, edges)

    return export_table(
        kind,
        load,
        out=check_path("out", out, "the path of a folder"),
        options=ExportOptions(**given),
        notice=warn_caller,
        progress=clock(progress),
    )


def run_mesh(
    folder: PathLike,
    kind: str | None = None,
    *,
    messages: int = 10,
    kill: Iterable[str] = (),
    freeze: Iterable[str] = (),
    attack: Iterable[str] = (),
    cut: Iterable[str] = (),
    stall: Iterable[str] = (),
    rate: bool = False,
    timeout: float = 60.0,
    settle: float = 1.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> RunSummary:
    """Start the brokers of an exported folder, prove what they deliver, stop them; return the figures.

    The result's `exact` says whether every subscriber got every message exactly once and no broker carried
    what its node does not want. The arguments are those of `topicloom run`.

    >>> run_mesh("nowhere", messages=0)
    Traceback (most recent call last):
    topicloom.errors.UsageError: `messages` takes a whole number of at least 1; it got int 0
    """
    from topicloom.mesh.jobs.run import run_folder
    from topicloom.mesh.model.manifest import read_mesh
    from topicloom.mesh.run.running_mesh import RunSettings

    check_text("kind", kind, "the kind of broker", none=True)
    check_whole("messages", messages, least=1)
    check_whole("seed", seed)
    check_seconds("timeout", timeout)
    check_seconds("settle", settle)
    check_flag("rate", rate)
    named: dict[str, Any] = {"kill": kill, "freeze": freeze, "attack": attack, "cut": cut, "stall": stall}
    for name, value in named.items():
        if not isinstance(value, str | Iterable):
            raise refuse(name, "a list of names, or 'all'", value)
    path = check_path("folder", folder, "the path of an exported folder")
    chosen: dict[str, Any] = {
        name: (value,) if isinstance(value, str) else tuple(value) for name, value in named.items()
    }
    plain: dict[str, Any] = {"timeout": timeout, "settle": settle, "rate": rate}
    settings = RunSettings(messages=messages, seed=seed, **plain, **chosen)
    return run_folder(kind or read_mesh(path).kind, path, settings, progress=clock(progress))
