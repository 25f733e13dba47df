"""Plan a roll-out: from an exported mesh to a new one in two phases of files, and no loop on the way."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Summary
from topicloom.errors import InputError, UsageError
from topicloom.mesh.kinds.registry import KINDS, host_columns
from topicloom.mesh.model.manifest import MANIFEST, SECRETS, check_whole, edited_files, is_export, read_mesh
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.plan.certificates import judge_certificates
from topicloom.mesh.plan.credentials import Login, make_password, read_credentials
from topicloom.mesh.plan.filters import check_choice
from topicloom.mesh.plan.hosts import Place, is_loopback, read_hosts
from topicloom.mesh.plan.link_plan import check_mesh
from topicloom.mesh.plan.mesh_plan import MeshLayout, MeshPlan, wildcards, write_rendered
from topicloom.mesh.plan.request import Request
from topicloom.mesh.plan.roles import roles_of
from topicloom.mesh.plan.secrets import read_secrets
from topicloom.mesh.rollout.change import Change, pair
from topicloom.mesh.rollout.effects import interrupted_topics, touched_nodes
from topicloom.mesh.rollout.mixed_states import MixedStates
from topicloom.mesh.rollout.new_mesh import Growth, grown_stems, old_plan
from topicloom.mesh.rollout.pairs import let_go, may_link
from topicloom.mesh.rollout.phases import difference, middle
from topicloom.mesh.rollout.sound import fault_of_links, fault_of_secrets
from topicloom.mesh.rollout.splits import Splits, arrange
from topicloom.mesh.rollout.states import check_rollout
from topicloom.mesh.rollout.sticky_backups import sticky_backups
from topicloom.mesh.rollout.sticky_forests import sticky_forests
from topicloom.mesh.rollout.sticky_trees import sticky_trees
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.folder import check_own_folder, write_json
from topicloom.tables.spark.spark_choice import Notice, no_notice

ROLLOUT = "rollout.json"
PHASES = ("phase1", "phase2")


@dataclass(frozen=True, slots=True)
class RolloutOptions:
    """What the user chose: hosts and logins of nodes that are new, how many old links may go.

    `filters` and `literal`: what topics with wildcards are, where the old mesh does not say. `open_`: brokers
    on other machines may let everybody in, although those of the old mesh are all on this one.
    `free`: links beyond those of the new overlay may be planned, where that changes fewer brokers.
    """

    hosts: Path | None = None
    credentials: Path | None = None
    drop_up_to: int = 0
    overwrite: bool = False
    free: bool = False
    filters: bool = False
    literal: bool = False
    open_: bool = False


class RolloutSummary(Summary, frozen=True, kw_only=True):
    """What rollout.json holds and `mesh rollout --json` prints.

    `brokers_touched`: those whose files change, by phase, in the order to restart them. `brokers_reloaded`:
    those of them that need no restart, because only passwords and access lists change.
    `topics_interrupted`: those that may lose a message, because a broker of theirs is restarted.
    `topics_split`: those of them that in some state of this order may be in several components, wherever
    links with backups stand. `topics_moved`: those whose clients must log in to another account.
    """

    kind: str
    brokers_touched: dict[str, list[str]]
    brokers_reloaded: dict[str, list[str]]
    brokers_added: list[str]
    brokers_removed: list[str]
    topics_interrupted: list[str]
    topics_split: list[str]
    topics_moved: list[str]
    links_added: list[str]
    links_dropped: list[str]
    states_checked: int
    loops: int
    out: str


@dataclass(frozen=True, slots=True)
class NewInterest:
    """What is wanted from now on, and the overlay for it."""

    interest: Interest
    overlay: Overlay


def old_edges(folder: Path, interest: Interest) -> Overlay:
    """Return the pairs that an exported mesh links, where the interest has both ends: edges that exist."""
    number = {name: at for at, name in enumerate(interest.node_ids.to_pylist())}
    pairs = {pair(link.dialer, link.acceptor) for link in read_mesh(folder).links}
    known = sorted(tuple(sorted((number[a], number[b]))) for a, b in pairs if a in number and b in number)
    return Overlay.from_edges(interest.node_ids, [a for a, _ in known], [b for _, b in known])


def plan_rollout(
    folder: Path,
    new: NewInterest | Path,
    *,
    out: Path,
    options: RolloutOptions | None = None,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> RolloutSummary:
    """Write both phases of the way from an exported mesh to a new interest, or to another exported mesh.

    With an interest only topics that changed are planned anew; another mesh is taken as it is.
    """
    options = options or RolloutOptions()
    old = read_mesh(folder)
    layout = _layout(old.kind)
    _check(folder, old, new, out, options)
    progress.phase("plan")
    request = _request(folder, old, new, options, notice, progress)
    plan = _sticky(old, layout, request, options) if isinstance(new, NewInterest) else None
    after = plan.mesh if plan else _other_mesh(old, new)
    between = middle(old, after)
    with replacing(out) as work:
        for name in PHASES:
            (work / name).mkdir(parents=True)
        write_rendered(old_plan(old, between), request, work / PHASES[0], layout)
        if plan is not None:
            write_rendered(plan, request, work / PHASES[1], layout)
        else:
            shutil.copytree(str(new), work / PHASES[1], dirs_exist_ok=True)
        progress.phase("prove")
        summary = _summary(folder, work, (old, between, after), str(out))
        write_json(summary, work / ROLLOUT)
    return summary


def _layout(kind: str) -> MeshLayout:
    layout = KINDS[kind].layout if kind in KINDS else None
    if layout is None:
        able = [name for name, other in KINDS.items() if other.layout is not None]
        raise UsageError(f"cannot roll out {kind}; kinds that can be are {', '.join(able)}")
    return layout


def _check(folder: Path, old: Mesh, new: NewInterest | Path, out: Path, options: RolloutOptions) -> None:
    check_own_folder(out, f"`out={out}`", "an earlier roll-out", _is_rollout)
    if not options.overwrite:
        _check_loss(out, [folder, *([new] if isinstance(new, Path) else [])])
    if options.open_ and any(node.user for node in old.nodes):
        raise UsageError(f"`open` does not take the logins of {folder} away; leave it out")
    if isinstance(new, Path) and (options.filters or options.literal):
        raise UsageError(f"{new} is a mesh already, which says itself what topics with wildcards are")
    if any(node.user for node in old.nodes) and not read_secrets(folder).clients:
        raise InputError(f"{folder} has logins but no secrets.json; export it anew with this version")
    for one, mesh in ((folder, old), *([(new, read_mesh(new))] if isinstance(new, Path) else [])):
        check_whole(one)
        fault = fault_of_links(mesh, connected=not isinstance(new, Path))
        if fault:
            raise InputError(f"{one / MANIFEST} is damaged: {fault}; export it again")
        fault = fault_of_secrets(mesh, read_secrets(one))
        if fault:
            raise InputError(f"{one / SECRETS} {fault}; take that of this mesh from a copy, or export anew")
    edited = [] if options.overwrite else edited_files(folder)
    if edited:
        raise InputError(
            f"{folder / edited[0]} changed since it was exported; a roll-out would undo that: export anew, "
            "or give `overwrite`"
        )
    if options.drop_up_to < 0:
        raise UsageError(f"`drop_up_to={options.drop_up_to}`: give a number of links, 0 or more")


def _is_rollout(folder: Path) -> bool:
    """Return whether everything in this folder was written by an earlier roll-out."""
    there = {path.name for path in folder.iterdir()}
    return ROLLOUT in there <= {ROLLOUT, *PHASES} and all(
        is_export(folder / phase) for phase in PHASES if phase in there
    )


def _check_loss(out: Path, used: Sequence[Path]) -> None:
    """Refuse to replace an earlier roll-out that is in use, or was edited since."""
    for folder in used:
        if folder.resolve().is_relative_to(out.resolve()):
            raise InputError(
                f"{folder} lies in `out={out}`, which would be replaced; choose another folder, or give "
                "`overwrite`"
            )
    for phase in PHASES if out.is_dir() else ():
        edited = edited_files(out / phase) if (out / phase).is_dir() else []
        if edited:
            raise InputError(
                f"`out={out}`: {phase}/{edited[0]} changed since it was planned, and that would be lost; "
                "keep a copy and give `overwrite`, or choose another folder"
            )


def _other_mesh(old: Mesh, new: NewInterest | Path) -> Mesh:
    assert isinstance(new, Path)
    after = read_mesh(new)
    if after.kind != old.kind:
        raise InputError(f"{new} holds a mesh of kind {after.kind}, not {old.kind}")
    return after


def _request(
    folder: Path,
    old: Mesh,
    new: NewInterest | Path,
    options: RolloutOptions,
    notice: Notice,
    progress: Progress,
) -> Request:
    """Return what the writers look up: logins and certificates of the old mesh, and of what is new."""
    if not isinstance(new, NewInterest):
        interest = Interest.from_pairs([(n, t.topic) for t in old.topics for n in t.subscribers])
        new = NewInterest(interest, Overlay.from_edges(interest.node_ids, [], []))
    nodes: list[str] = new.interest.node_ids.to_pylist()
    logins = dict(read_secrets(folder).clients)
    come = [node for node in nodes if node not in {one.name for one in old.nodes}]
    if logins:
        where = options.credentials
        given = read_credentials(where, nodes, notice, needed=come) if where else {}
        stems = grown_stems(old, nodes)
        for node in nodes:
            if node not in logins:
                logins[node] = given.get(node) or Login(stems[node], make_password(None))
    places = (
        read_hosts(options.hosts, nodes, notice, more=host_columns(), needed=come) if options.hosts else {}
    )
    _check_open(old, logins, {node: places[node] for node in come if node in places}, options)
    known = {node.name: Place(node.host) for node in old.nodes}
    moved = next((n for n in nodes if n in known and n in places and places[n].host != known[n].host), None)
    if moved is not None:
        raise InputError(f"{places[moved].where}: node {moved!r} would move, which no roll-out does")
    tls, at = (Path(old.options[name]) if name in old.options else None for name in ("tls", "tls_at"))
    if tls is not None:
        stems, there = grown_stems(old, nodes), {**places, **known}
        hosts = {stems[node]: there[node].host for node in nodes if node in there}
        judge_certificates(tls, hosts, at=at, notice=notice)
    return Request(
        new.interest,
        new.overlay,
        places={**places, **known},
        logins=logins,
        link_secrets=dict(read_secrets(folder).links),
        tls=tls,
        tls_at=at,
        queue=int(old.options["durable"]) if "durable" in old.options else None,
        notice=notice,
        progress=progress,
    )


def _check_open(
    old: Mesh, logins: Mapping[str, Login], come: Mapping[str, Place], options: RolloutOptions
) -> None:
    """Refuse to let strangers in where so far nobody could come from elsewhere."""
    if logins or options.open_ or any(not is_loopback(node.host) for node in old.nodes):
        return
    for node, place in come.items():
        if not is_loopback(place.host):
            raise InputError(
                f"{place.where}: {node!r} would be on {place.host} and let everybody in, because the old "
                "mesh has no logins; export that anew with `hosts` or `credentials`, or give `open`"
            )


def _wildcards(old: Mesh, options: RolloutOptions) -> dict[str, bool]:
    """Return what topics with wildcards are: as the old mesh says, or the user."""
    given = {"filters": options.filters, "literal": options.literal}
    said = old.options.get("wildcards")
    other = next((name for name, one in given.items() if one and said not in (None, name)), None)
    if other is not None:
        raise UsageError(f"`{other}`: the old mesh was exported with `{said}`, which no roll-out changes")
    return given if said is None else {name: name == said for name in given}


def _sticky(old: Mesh, layout: MeshLayout, request: Request, options: RolloutOptions) -> MeshPlan:
    """Plan the new mesh: what did not change stays."""
    interest = request.interest
    nodes: list[str] = interest.node_ids.to_pylist()
    members = {
        topic: [nodes[node] for node in interest.nodes_of(number)]
        for number, topic in enumerate(interest.topic_ids.to_pylist())
    }
    near = may_link(old, request.overlay, nodes)
    gone = let_go(old, members, near, request.overlay, options.drop_up_to)
    change = Change(old, members, near, gone, free=options.free)
    stems = grown_stems(old, nodes)
    account_of: Mapping[str, str] = {}
    if old.accounts:
        links, account_of = sticky_forests(change, stems)
    else:
        links = sticky_trees(change, stems)
    links = sticky_backups(old, links, members)
    users = {node: login.user for node, login in request.logins.items()}
    shape = layout.shape(request)
    chosen = _wildcards(old, options)
    check_choice(shape.names.filters, list(members), **chosen)
    old = replace(old, options={**old.options, **wildcards(**chosen)})
    growth = Growth(old, shape, members, nodes, request.places, users, chosen["filters"], roles_of(interest))
    plan = growth.plan(links, account_of)
    check_mesh(request, plan.mesh)
    return plan


def _summary(folder: Path, work: Path, meshes: tuple[Mesh, Mesh, Mesh], out: str) -> RolloutSummary:
    old, _, after = meshes
    reloads = _layout(old.kind).reloads
    folders = (folder, work / PHASES[0], work / PHASES[1])
    told = difference(old, after)
    splits, split = Splits(MixedStates(meshes, folders, frozenset(told.moved))), set[str]()
    touched, reloaded = list[list[str]](), list[list[str]]()
    for number, (before, later) in enumerate(pairwise(meshes), 1):
        own, light = touched_nodes(folders[number - 1], before, folders[number], later, reloads=reloads)
        steps = {node.name: number - 1 for node in before.nodes}
        touched.append(arrange(splits, steps, number, own, split))
        reloaded.append([node for node in touched[-1] if node in light])
    states, loops = check_rollout(meshes, touched)
    if loops:
        raise AssertionError(f"the planned roll-out does not hold: {loops[0]}")
    known, wanted = ({node.name for node in mesh.nodes} for mesh in (old, after))
    passing = interrupted_topics(meshes, {node for own in touched for node in own})
    return RolloutSummary(
        kind=old.kind,
        brokers_touched=dict(zip(PHASES, touched, strict=True)),
        brokers_reloaded=dict(zip(PHASES, reloaded, strict=True)),
        brokers_added=sorted(wanted - known),
        brokers_removed=sorted(known - wanted),
        topics_interrupted=sorted({*passing, *split, *told.moved}),
        topics_split=sorted(split),
        topics_moved=told.moved,
        links_added=told.added,
        links_dropped=told.dropped,
        states_checked=states,
        loops=len(loops),
        out=out,
    )
