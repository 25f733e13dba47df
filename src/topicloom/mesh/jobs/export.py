"""Export a build: read it, plan what the kind asks for, write the folder whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from topicloom.base.atomic_write import replacing
from topicloom.base.counts import counted
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.registry import find
from topicloom.base.summaries import Summary, plain
from topicloom.errors import InputError, UsageError
from topicloom.mesh.kinds.kind import BrokerKind
from topicloom.mesh.kinds.registry import KINDS, host_columns
from topicloom.mesh.model.manifest import MANIFEST, SECRETS, check_export_out, write_manifest
from topicloom.mesh.plan.credentials import Login, make_password, read_credentials
from topicloom.mesh.plan.filters import check_choice
from topicloom.mesh.plan.hosts import Place, is_loopback, read_hosts
from topicloom.mesh.plan.link_plan import SPREAD, TREES
from topicloom.mesh.plan.names import file_stems
from topicloom.mesh.plan.request import ExportFigures, Request
from topicloom.mesh.plan.secrets import Secrets, read_secrets
from topicloom.overlay.graphs.formats import GRAPH_FORMATS, GraphFormat
from topicloom.overlay.jobs.interest_table import InterestTable, check_agreement
from topicloom.overlay.jobs.measure import load_overlay
from topicloom.overlay.model.build_folder import load_build, read_interest
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.source import TableSource
from topicloom.tables.spark.spark_choice import Notice, no_notice

DEFAULT_BACKUPS = 1
DEFAULT_QUEUE = 10_000  # messages that wait for each link, with `durable`
MOST_BACKUPS = 9
MOST_SPLIT = 9
Exporter = GraphFormat | BrokerKind


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What the user chose; None where nothing was said."""

    hosts: Path | None = None
    credentials: Path | None = None
    tls: Path | None = None
    tls_at: Path | None = None
    backups: int | None = None
    split: int | None = None
    durable: bool = False
    queue: int | None = None
    trees: str | None = None
    seed: int | None = None
    filters: bool = False
    literal: bool = False
    open_: bool = False
    overwrite: bool = False

    def given(self) -> dict[str, Any]:
        """Return the options that were given and that not every kind honours, by name."""
        mine = {name: value for name, value in asdict(self).items() if name != "overwrite"}
        return {name: value for name, value in mine.items() if value not in (None, False)}


class ExportSummary(Summary, frozen=True, kw_only=True):
    """What `export --json` prints."""

    kind: str
    nodes: int
    links: int
    accounts: int
    topics: int
    connections_per_node_max: int
    backups: int
    hops_max: int | None
    hops_overlay: int | None
    renamed: dict[str, str]
    remarks: tuple[str, ...]
    out: str
    files: list[str]


class DescribedExporter(Summary, frozen=True):
    """A kind of export and the options it honours."""

    kind: str
    description: str
    options: list[str]


class ExporterList(Summary, frozen=True):
    """What `export --list --json` prints."""

    exporters: list[DescribedExporter]


def exporters() -> dict[str, Exporter]:
    """Return all that a build can be exported as: files for graph tools, and meshes of brokers."""
    return {**GRAPH_FORMATS, **KINDS}


def export_build(
    kind: str,
    source: Path,
    *,
    out: Path,
    options: ExportOptions | None = None,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> ExportSummary:
    """Write the export of a build folder to `out`; return its summary."""
    return export_table(
        kind, lambda: _load(source), out=out, options=options, notice=notice, progress=progress
    )


def _load(source: Path) -> tuple[Interest, Overlay]:
    build = load_build(source)
    return build.interest or read_interest(source), build.overlay


def export_edges(
    kind: str,
    edges: TableSource,
    interest: InterestTable,
    *,
    out: Path,
    options: ExportOptions | None = None,
) -> ExportSummary:
    """Write the export of an edge table of one's own, with the interest beside it; return its summary."""

    def load() -> tuple[Interest, Overlay]:
        loaded = interest.load()
        check_agreement(edges, interest.source, loaded.digest, interest.spark)
        overlay, left_out = load_overlay(edges, loaded.interest, interest)
        for name, count in plain(left_out).items():
            if count:
                left = counted(count, name.removesuffix("s").replace("_", " "))
                interest.notice(f"{left} of {edges.path} {'is' if count == 1 else 'are'} left out")
        return loaded.interest, overlay

    return export_table(
        kind, load, out=out, options=options, notice=interest.notice, progress=interest.progress
    )


def export_table(
    kind: str,
    load: Callable[[], tuple[Interest, Overlay]],
    *,
    out: Path,
    options: ExportOptions | None = None,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> ExportSummary:
    """Write the export of what `load` gives; whatever is wrong with the options is told before."""
    options = options or ExportOptions()
    exporter = find("kind", exporters(), kind)
    _check_options(kind, exporter, options)
    check_export_out(out, kind, overwrite=options.overwrite)
    progress.phase("read")
    interest, overlay = load()
    _check_wildcards(exporter, interest, options)
    nodes: list[str] = interest.node_ids.to_pylist()
    places = read_hosts(options.hosts, nodes, notice, more=host_columns()) if options.hosts else {}
    kept = read_secrets(out)
    request = Request(
        interest=interest,
        overlay=overlay,
        places=places,
        logins=_logins(exporter, options, nodes, places, kept, notice),
        tls=options.tls,
        tls_at=options.tls_at,
        backups=_backups(exporter, options),
        split=options.split or 1,
        earlier=out if (out / MANIFEST).is_file() else None,
        seed=options.seed,
        queue=(options.queue or DEFAULT_QUEUE) if options.durable else None,
        trees=options.trees or SPREAD,
        link_secrets=dict(kept.links),
        filters=options.filters,
        literal=options.literal,
        notice=notice,
        progress=progress,
    )
    check_stop(progress)
    with replacing(out) as folder:
        folder.mkdir()
        figures = _write(exporter, request, folder)
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        if isinstance(exporter, GraphFormat):
            files = sorted({*files, MANIFEST})
            write_manifest(folder, kind, files)
    return ExportSummary(
        kind=kind,
        nodes=interest.n_nodes,
        topics=interest.n_topics,
        out=str(out),
        files=files,
        **asdict(figures),
    )


def described_exporters() -> ExporterList:
    """Describe all kinds, for `--list`."""
    return ExporterList(
        [
            DescribedExporter(kind, found.description, sorted(one.rstrip("_") for one in found.options))
            for kind, found in exporters().items()
        ]
    )


def _write(exporter: Exporter, request: Request, folder: Path) -> ExportFigures:
    if isinstance(exporter, BrokerKind):
        return exporter.write(request, folder)
    interest, overlay, progress = request.interest, request.overlay, request.progress
    progress.phase("write", interest.n_nodes + overlay.n_edges)
    exporter.write(interest, overlay, folder / exporter.file, progress=progress)
    most = int(overlay.degrees().max()) if overlay.n_nodes else 0
    return ExportFigures(links=overlay.n_edges, connections_per_node_max=most)


def _check_options(kind: str, exporter: Exporter, options: ExportOptions) -> None:
    wrong = next((name for name in options.given() if name not in exporter.options), None)
    if wrong is not None and isinstance(exporter, BrokerKind) and wrong in exporter.cannot:
        raise UsageError(f"`{wrong}` cannot be done with {kind}: {exporter.cannot[wrong]}")
    # No backups is what a kind that has none does anyway.
    if wrong is not None and not (wrong == "backups" and options.backups == 0):
        honoured = ", ".join(f"`{name}`" for name in sorted(exporter.options)) or "no options"
        raise UsageError(f"`{wrong}` means nothing to {kind}; it takes {honoured}")
    if options.backups is not None and not 0 <= options.backups <= MOST_BACKUPS:
        raise UsageError(f"`backups={options.backups}`: give a number from 0 to {MOST_BACKUPS}")
    if options.split is not None and not 1 <= options.split <= MOST_SPLIT:
        raise UsageError(f"`split={options.split}`: give a number from 1 to {MOST_SPLIT}")
    if options.trees is not None and options.trees not in TREES:
        raise UsageError(f"`trees={options.trees}`: use {' or '.join(TREES)}")
    if options.split is not None and options.backups == 0:
        raise UsageError("`split` is for backups, and `backups=0` turns them off; leave one of them out")
    if options.queue is not None and not options.durable:
        raise UsageError("`queue` is for links that keep messages; give `durable` too")
    if options.queue is not None and options.queue < 1:
        raise UsageError(f"`queue={options.queue}`: give a number of messages, 1 or more")
    if options.durable and (options.backups or options.split):
        raise UsageError(
            "`durable` goes without `backups` and `split`: what waits for a link would come a second time by "
            "the backup"
        )
    if options.tls is not None and not options.tls.is_dir():
        raise InputError(f"`tls={options.tls}` is not a folder")
    if options.tls_at is not None and options.tls is None:
        raise UsageError("`tls_at` says where the files of `tls` will be; give both")


def _logins(
    exporter: Exporter,
    options: ExportOptions,
    nodes: Sequence[str],
    places: Mapping[str, Place],
    kept: Secrets,
    notice: Notice,
) -> dict[str, Login]:
    """Return the logins of clients: given, kept from an earlier export, or made where strangers may come."""
    if options.credentials:
        if options.open_:
            raise UsageError("`credentials` and `open` contradict each other; give one of them")
        return read_credentials(options.credentials, nodes, notice)
    strange = any(not is_loopback(place.host) for place in places.values())
    able = isinstance(exporter, BrokerKind) and exporter.layout is not None
    if options.open_ or not able or not strange:
        return {}
    stems = file_stems(nodes)
    notice(f"every node has a login of its own for its clients; {SECRETS} has them")
    return {
        node: kept.clients.get(node) or Login(stems[node], make_password(options.seed, "client", node))
        for node in nodes
    }


def _check_wildcards(exporter: Exporter, interest: Interest, options: ExportOptions) -> None:
    if isinstance(exporter, BrokerKind) and "filters" in exporter.options:
        topics: list[str] = interest.topic_ids.to_pylist()
        check_choice(exporter.names.filters, topics, filters=options.filters, literal=options.literal)


def _backups(exporter: Exporter, options: ExportOptions) -> int:
    if "backups" not in exporter.options or options.durable:
        return 0
    return DEFAULT_BACKUPS if options.backups is None else options.backups
