"""From trees and links by number to a mesh by name: hosts, ports, files, accounts, names of topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.model.directions import BOTH, Directions, directions_of
from topicloom.mesh.model.manifest import MANIFEST, SECRETS, write_mesh
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic, connections_per_node, hops_max
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.plan.certificates import judge_certificates
from topicloom.mesh.plan.hosts import Place, assign_ports, is_loopback
from topicloom.mesh.plan.link_plan import SPREAD, LinkPlan, check_mesh
from topicloom.mesh.plan.names import NameRule, file_stems
from topicloom.mesh.plan.one_way import keep_one_way
from topicloom.mesh.plan.request import ExportFigures, Request
from topicloom.mesh.plan.roles import TopicRoles, roles_of
from topicloom.mesh.plan.secrets import Secrets, secrets_text
from topicloom.overlay.builders.hops import topic_hops

NO_CLASS = [-1]  # of a topic, where links carry trees


@dataclass(frozen=True, slots=True)
class MeshShape:
    """What differs between kinds: names, the ports of a node by purpose and their bases, its config files.

    With `by_account` a node has one broker, port and file for each account instead of one in all.
    """

    names: NameRule
    ports: tuple[tuple[str, int], ...]
    suffix: str
    by_account: bool = False


@dataclass(frozen=True, eq=False)
class MeshPlan:
    """A mesh and what the writers of configurations look up in it.

    `accepting` is the mesh whose links the acceptors let in, where that is another one: in the middle of a
    roll-out.
    """

    mesh: Mesh
    stems: Mapping[str, str]
    wanted: Mapping[str, tuple[str, ...]]  # the accounts of each node
    accepting: Mesh | None = None

    @cached_property
    def node(self) -> dict[str, MeshNode]:
        return {node.name: node for node in self.mesh.nodes}

    @cached_property
    def name_of(self) -> dict[str, str]:
        """Return what each topic is called at the brokers."""
        both = (*self.mesh.topics, *(self.accepting.topics if self.accepting else ()))
        return {topic.topic: topic.name for topic in both}

    @cached_property
    def dialled(self) -> dict[str, list[MeshLink]]:
        """Return the links each node opens."""
        found: dict[str, list[MeshLink]] = {node.name: [] for node in self.mesh.nodes}
        for link in self.mesh.links:
            found[link.dialer].append(link)
        return found

    @cached_property
    def callers(self) -> dict[str, dict[str | None, list[str]]]:
        """Return for each node and account who may dial it: at once or as a backup."""
        found: dict[str, dict[str | None, list[str]]] = {node.name: {} for node in self.mesh.nodes}
        for link in (self.accepting or self.mesh).links:
            for acceptor in (link.acceptor, *link.backups):
                found[acceptor].setdefault(link.account, []).append(link.dialer)
        return found

    @cached_property
    def accepted(self) -> dict[str, list[MeshLink]]:
        """Return the links that may come in at each node: at once, or as to a backup."""
        found: dict[str, list[MeshLink]] = {node.name: [] for node in self.mesh.nodes}
        for link in (self.accepting or self.mesh).links:
            for acceptor in (link.acceptor, *link.backups):
                found[acceptor].append(link)
        return found

    @cached_property
    def _directions(self) -> Directions:
        # In the middle of a roll-out links carry what they did before, or less, but no other way.
        return directions_of(self.accepting or self.mesh)

    def direction(self, link: MeshLink, topic: str) -> str:
        """Return which way a link carries a topic, as its dialer sees it."""
        return self._directions.get((link.name, topic), BOTH)

    def carried(self, link: MeshLink, unless: str) -> list[str]:
        """Return the names of the topics that a link carries not only in this direction."""
        return [self.name_of[topic] for topic in link.topics if self.direction(link, topic) != unless]

    @cached_property
    def topics_of(self) -> dict[str, list[MeshTopic]]:
        """Return the topics of each node."""
        found: dict[str, list[MeshTopic]] = {node.name: [] for node in self.mesh.nodes}
        for topic in (self.accepting or self.mesh).topics:
            for node in topic.subscribers:
                found[node].append(topic)
        return found

    def heading(self, what: str, node: str, mark: str) -> str:
        """Return the first line of a configuration; `mark` begins a comment.

        It names no version and no digest: a file changes only where what it configures does.
        """
        shown = "".join(c if c.isprintable() else "?" for c in node[:100])
        return f"{mark} {what} of node {shown}, written by topicloom export; {MANIFEST} lists all\n"

    def figures(self) -> ExportFigures:
        """Return the mesh in numbers."""
        return ExportFigures(
            links=len(self.mesh.links),
            accounts=len(self.mesh.accounts),
            connections_per_node_max=max(connections_per_node(self.mesh).values(), default=0),
            backups=sum(bool(link.backups) for link in self.mesh.links),
            hops_max=hops_max(self.mesh),
            renamed={topic.topic: topic.name for topic in self.mesh.topics if topic.name != topic.topic},
        )


Render = Callable[[MeshPlan, Request], tuple[Mapping[str, str], Collection[str]]]


@dataclass(frozen=True, slots=True)
class MeshLayout:
    """How a kind of broker becomes files: its shape, its links, its text.

    `render` gives the files by name and the names of those with secrets. `opened` says who gets in without
    credentials. `reloads`: a running broker takes files beside its configuration anew when it is told to.
    """

    shape: Callable[[Request], MeshShape]
    plan_links: Callable[[Request], LinkPlan]
    render: Render
    opened: str
    reloads: bool = False


def plan_mesh(
    request: Request,
    shape: MeshShape,
    links: Sequence[PlannedLink],
    start_order: Sequence[int],
    class_of: Sequence[int] | None = None,
) -> MeshPlan:
    """Give every broker a place and a file, every topic a name, every class an account."""
    interest = request.interest
    nodes: list[str] = interest.node_ids.to_pylist()
    topics: list[str] = interest.topic_ids.to_pylist()
    stems = file_stems(nodes)
    if request.tls is not None:
        hosts = {stems[one]: request.places[one].host if request.places else LOOPBACK for one in nodes}
        judge_certificates(request.tls, hosts, at=request.tls_at, notice=request.notice)
    classes: Sequence[int] = NO_CLASS * len(topics) if class_of is None else class_of
    roles = roles_of(interest)
    wanted = {
        name: _accounts(classes[topic] for topic in interest.topics_of(node))
        for node, name in enumerate(nodes)
    }
    mesh = Mesh(
        kind=shape.names.kind,
        nodes=_nodes(request, shape, nodes, stems, wanted),
        links=tuple(_links(links, nodes, topics, stems)),
        topics=tuple(
            mesh_topic(
                shape.names,
                name,
                tuple(nodes[node] for node in interest.nodes_of(topic)),
                account_name(classes[topic]),
                filters=request.filters,
                roles=roles.get(name, TopicRoles()),
            )
            for topic, name in enumerate(topics)
        ),
        start_order=tuple(nodes[node] for node in start_order),
        accounts=_accounts(classes),
        options=_options(request),
    )
    return MeshPlan(keep_one_way(mesh), stems, wanted)


def mesh_topic(
    names: NameRule,
    topic: str,
    subscribers: tuple[str, ...],
    account: str | None,
    *,
    filters: bool,
    roles: TopicRoles,
) -> MeshTopic:
    """Return a topic as the brokers know it."""
    who = subscribers, account
    if filters and names.filters is not None and names.filters.is_filter(topic):
        example = names.filters.example(topic)
        return MeshTopic(topic, names.filter(topic), *who, example, roles.publishers, roles.receivers)
    return MeshTopic(topic, names.encode(topic), *who, None, roles.publishers, roles.receivers)


def _options(request: Request) -> dict[str, str]:
    tls = {} if request.tls is None else {"tls": str(request.tls.absolute())}
    tls |= {} if request.tls_at is None else {"tls_at": str(request.tls_at)}
    queue = {} if request.queue is None else {"durable": str(request.queue)}
    trees = {} if request.trees == SPREAD else {"trees": request.trees}
    return tls | wildcards(filters=request.filters, literal=request.literal) | queue | trees


def wildcards(*, filters: bool, literal: bool) -> dict[str, str]:
    """Return what a manifest keeps of the choice what topics with wildcards are."""
    return {"wildcards": "filters" if filters else "literal"} if filters or literal else {}


def write_planned(
    request: Request,
    folder: Path,
    layout: MeshLayout,
) -> ExportFigures:
    """Plan a mesh, prove it once more as planned, write it and its configurations; return its figures."""
    refuse_empty(request)
    planned = layout.plan_links(request)
    plan = plan_mesh(request, layout.shape(request), planned.links, planned.start_order, planned.class_of)
    warn_open(request, layout.opened)
    check_mesh(request, plan.mesh)
    request.progress.phase("write")
    write_rendered(plan, request, folder, layout)
    promised = int(topic_hops(request.interest, request.overlay).max(initial=0))
    return replace(plan.figures(), hops_overlay=promised)


def write_rendered(plan: MeshPlan, request: Request, folder: Path, layout: MeshLayout) -> None:
    """Write a planned mesh: its configurations, its secrets and its manifest."""
    files, secret = layout.render(plan, request)
    if request.logins:
        links = {link.name for mesh in (plan.mesh, plan.accepting or plan.mesh) for link in mesh.links}
        secrets = Secrets(
            {name: request.logins[name] for name in sorted(request.logins)},
            {name: request.secret_of(name) for name in sorted(links)},
        )
        files, secret = {**files, SECRETS: secrets_text(secrets)}, [*secret, SECRETS]
    write_mesh(folder, plan.mesh, files, secret=secret)


def account_name(topic_class: int) -> str | None:
    """Return what the account of a class is called; none where there are no classes."""
    return None if topic_class < 0 else f"A{topic_class}"


def _accounts(classes: Iterable[int]) -> tuple[str, ...]:
    return tuple(filter(None, map(account_name, sorted(set(classes)))))


def _nodes(
    request: Request,
    shape: MeshShape,
    nodes: Sequence[str],
    stems: Mapping[str, str],
    wanted: Mapping[str, tuple[str, ...]],
) -> tuple[MeshNode, ...]:
    places = request.places or dict.fromkeys(nodes, Place(LOOPBACK))
    base = shape.ports[0][1]
    needs = {
        node: [(account, base) for account in wanted[node]] if shape.by_account else list(shape.ports)
        for node in nodes
    }
    ports = assign_ports(places, needs)
    made = []
    for node in nodes:
        parts = wanted[node] if shape.by_account else ("",)
        made.append(
            MeshNode(
                name=node,
                host=places[node].host,
                ports=ports[node],
                configs=tuple(f"{stems[node]}{'~' if part else ''}{part}{shape.suffix}" for part in parts),
                user=request.logins[node].user if request.logins else None,
            )
        )
    return tuple(made)


def _links(
    links: Iterable[PlannedLink], nodes: Sequence[str], topics: Sequence[str], stems: Mapping[str, str]
) -> Iterator[MeshLink]:
    """Yield the links by name; several of one edge, direction and account are numbered from 2 on."""
    seen: Counter[str] = Counter()
    for link in links:
        dialer, acceptor = nodes[link.dialer], nodes[link.acceptor]
        account = account_name(link.topic_class)
        name = "~".join(filter(None, [stems[dialer], stems[acceptor], account]))  # no stem has a ~
        seen[name] += 1
        yield MeshLink(
            name=name if seen[name] == 1 else f"{name}~{seen[name]}",
            dialer=dialer,
            acceptor=acceptor,
            topics=tuple(topics[topic] for topic in link.topics),
            account=account,
            backups=tuple(nodes[backup] for backup in link.backups),
        )


def warn_open(request: Request, what: str) -> None:
    """Tell the user if anybody could log in from elsewhere."""
    strangers = [place.host for place in request.places.values() if not is_loopback(place.host)]
    if strangers and not request.logins:
        request.notice(
            f"brokers run on other machines ({strangers[0]} for one), and {what}: give `credentials`, or "
            "keep strangers out otherwise"
        )


def refuse_empty(request: Request) -> None:
    """Refuse a build without nodes."""
    if not request.interest.n_nodes:
        raise InputError("the build has no nodes: there is nothing to export")
