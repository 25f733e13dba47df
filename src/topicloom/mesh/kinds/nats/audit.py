"""What is wrong with leaf node links of NATS servers, read from their configurations.

Servers look for loops within an account, whatever the subjects: deny lists do not break one. A server that
sees a loop cuts the link and tries again half a minute later; one that is not seen carries messages round.
Servers of a cluster pass messages on once only, so a cluster counts as one server here. What accounts import
from and export to each other is not followed. forwarding.py knows what dialers do not pass on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from topicloom.errors import InputError
from topicloom.mesh.audit.broker_files import BrokerDirectory
from topicloom.mesh.audit.coverage import Wanted, check_coverage
from topicloom.mesh.audit.findings import Audit, Finding, several
from topicloom.mesh.audit.message_flow import Arc, MessageFlow, Spot
from topicloom.mesh.kinds.nats.forwarding import Forwarding, LeafLink
from topicloom.mesh.kinds.nats.read import GLOBAL, OPERATOR, LeafRemote, LeafUrl, NatsConf, text_of
from topicloom.mesh.model.mesh import Mesh


def audit_nats(
    directory: BrokerDirectory[NatsConf], wanted: Mapping[str, Wanted] | None, mesh: Mesh | None
) -> Audit:
    """Return all findings; `wanted` are the servers that want each topic, the manifest has its account."""
    group = _groups(directory)
    links, lost = _links(directory, group)
    flow = MessageFlow(_arcs(links))
    hubs = Forwarding(links, group, flow)
    spots = _spots(directory, links, group)
    coverage: dict[str, Any] = {}
    if wanted is not None:
        account_of = _accounts(wanted, mesh, directory)
        homes = {(b, t): (group[b], account_of[t]) for t, own in wanted.items() for b in own.brokers}
        flows = {t: hubs.flow_of({homes[b, t] for b in own.brokers}) for t, own in wanted.items()}
        coverage = check_coverage(wanted, flows, homes, by_interest=True, one_way_ok=directory.one_way_ok)
    return Audit(
        "nats",
        len(directory.brokers),
        len(links),
        len({account for _, account in spots}),
        loops=tuple(_loops(flow, links)),
        doubled=tuple(_doubled(flow, links)),
        one_sided=(*lost, *hubs.absent()),
        # Topics of one account may have different subscribers; where they are known, each topic is judged.
        unconnected=(*_split(flow, spots), *hubs.findings()) if wanted is None else (),
        unlinked=_unlinked(directory, links, group) if wanted is None else (),
        **coverage,
    )


def _accounts(wanted: Iterable[str], mesh: Mesh | None, servers: BrokerDirectory[NatsConf]) -> dict[str, str]:
    """Return the account of each topic: from the manifest, or the only one that there is."""
    if mesh is not None:
        named = {topic.sent_as: topic.account or GLOBAL for topic in mesh.topics}
        if set(wanted) <= named.keys():
            return named
    used = {remote.account for broker in servers.brokers.values() for remote in broker.conf.remotes}
    if len(used) > 1:
        raise InputError(
            f"links are in accounts {several(sorted(used))}, and only a manifest says which topic is in "
            "which; leave INTEREST out, or verify an exported folder"
        )
    return dict.fromkeys(wanted, next(iter(used), GLOBAL))


def _unlinked(
    directory: BrokerDirectory[NatsConf], links: list[LeafLink], group: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the servers that no leaf node link begins or ends at, nor at others of their cluster."""
    linked = {link.far[0] for link in links}
    linked |= {group[name] for name, broker in directory.brokers.items() if broker.conf.remotes}
    return tuple(name for name in directory.brokers if group[name] not in linked)


def _groups(directory: BrokerDirectory[NatsConf]) -> dict[str, str]:
    """Return the cluster of each server, called by its servers; a server without one is its own."""
    clusters: dict[str, list[str]] = defaultdict(list)
    for name, broker in directory.brokers.items():
        if broker.conf.cluster is not None:
            clusters[broker.conf.cluster].append(name)
    whole = {name: "+".join(names) for names in clusters.values() for name in names}
    return {name: whole.get(name, name) for name in directory.brokers}


def _links(
    directory: BrokerDirectory[NatsConf], group: Mapping[str, str]
) -> tuple[list[LeafLink], list[Finding]]:
    links: list[LeafLink] = []
    lost: list[Finding] = []
    for name, broker in directory.brokers.items():
        for remote in broker.conf.remotes:
            known = ((one, directory.behind(one.address)) for one in remote.urls)
            url, acceptor = next((pair for pair in known if pair[1]), (remote.urls[0], None))
            account, fault = (
                _far_account(remote, url, acceptor.conf) if acceptor else (None, _nobody(directory, url))
            )
            if acceptor is None or account is None:
                who = (name,) if acceptor is None else (name, acceptor.name)
                text = f"{name} dials {url.address} for account {remote.account}, but {fault}"
                lost.append(Finding((remote.account,), who, (str(url.value.where),), False, text))
            else:
                near, far = (group[name], remote.account), (group[acceptor.name], account)
                links.append(LeafLink(remote, name, acceptor.name, near, far))
    return links, lost


def _nobody(directory: BrokerDirectory[NatsConf], url: LeafUrl) -> str:
    there = directory.named(url.address.host)
    if there:
        port = url.address.shown or url.address.port
        return f"{there[0].name} does not listen for leaf nodes on port {port}; correct the port"
    return "no server in the folder has this address; add its configuration, or say with `hosts` whose it is"


def _far_account(remote: LeafRemote, url: LeafUrl, conf: NatsConf) -> tuple[str | None, str]:
    """Return the acceptor's account that the remote gets into; without one, why it is turned away."""
    open_account = conf.leaf_account or GLOBAL
    if remote.other_login:
        known = remote.account in conf.accounts or conf.root.get(*OPERATOR) is not None
        return (remote.account if known else open_account), ""
    if not conf.users:
        return open_account, ""
    if url.user is None:
        stranger = text_of(conf.root.get("no_auth_user"))
        if stranger is not None and stranger in conf.users:
            return conf.users[stranger][0], ""
        why = f"the url names no user and {conf.file} lets nobody in without; write user:password@ in it"
        return None, why
    if url.user not in conf.users:
        return None, f"{conf.file} has no user {url.user!r}; add it to the account there"
    account, password = conf.users[url.user]
    if password is not None and not password.startswith("$2") and password != url.password:
        return None, f"{conf.file} has another password for user {url.user!r}; correct one of them"
    return account, ""


def _arcs(links: list[LeafLink]) -> list[Arc]:
    """Return arcs both ways; of the servers of one cluster that dial the same, one stands for all."""
    arcs: list[Arc] = []
    dialling: dict[tuple[Spot, Spot], set[str]] = {}
    for number, link in enumerate(links):
        dialers = dialling.setdefault((link.near, link.far), set())
        if not dialers or link.dialer in dialers or link.near == link.far:
            arcs += [Arc(number, link.near, link.far), Arc(number, link.far, link.near)]
        dialers.add(link.dialer)
    return arcs


def _spots(
    directory: BrokerDirectory[NatsConf], links: list[LeafLink], group: Mapping[str, str]
) -> dict[Spot, None]:
    """Return every account of every server that messages can be in: named ones, $G where a link is in it."""
    found: dict[Spot, None] = {}
    for name, broker in directory.brokers.items():
        system = text_of(broker.conf.root.get("system_account")) or "SYS"
        found |= {(group[name], account): None for account in broker.conf.accounts if account != system}
    for link in links:
        found[link.near] = found[link.far] = None
    return found


def _loops(flow: MessageFlow, links: list[LeafLink]) -> Iterator[Finding]:
    for loop in flow.loops():
        brokers = tuple(server for server, _ in loop.spots)
        accounts = tuple({account: None for _, account in loop.spots})
        where = tuple(links[number].where for number in loop.links)
        denies = any(links[number].remote.denies for number in loop.links)
        text = (
            f"account {several(accounts)} has a loop {' - '.join((*brokers, brokers[0]))}: servers cut one "
            "of its links again and again and messages are lost"
            f"{' (deny lists do not help)' if denies else ''}; remove one of these remotes or give it "
            f"another account: {several(where)}"
        )
        yield Finding(accounts, brokers, where, True, text)


def _doubled(flow: MessageFlow, links: list[LeafLink]) -> Iterator[Finding]:
    for doubled in flow.doubled():
        one, other = doubled.spots[0][0], doubled.spots[1][0]
        where = tuple(links[number].where for number in doubled.links)
        accounts = tuple({account: None for _, account in doubled.spots})
        if doubled.spots[0] == doubled.spots[1]:
            text = f"{one} dials itself in account {accounts[0]} at {where[0]}; remove this remote"
        else:
            text = (
                f"{one} and {other} are linked {len(where)} times in account {several(accounts)} at "
                f"{several(where)}: the servers take it for a loop and cut one link again and again; keep one"
            )
        yield Finding(accounts, (one, other), where, True, text)


def _split(flow: MessageFlow, spots: Mapping[Spot, None]) -> Iterator[Finding]:
    """Find accounts of the same name on several servers that no link joins."""
    components: dict[str, dict[Spot, list[str]]] = defaultdict(lambda: defaultdict(list))
    for server, account in spots:
        component = flow.component_of.get((server, account), (server, account))
        components[account][component].append(server)
    for account, grouped in components.items():
        if len(grouped) > 1:
            listed = list(grouped.values())
            text = (
                f"account {account} is split into {len(listed)} components that no link joins: "
                f"{' | '.join(map(several, listed))}; add a remote for it between {listed[0][0]} and "
                f"{listed[1][0]}"
            )
            yield Finding((account,), tuple(chain.from_iterable(listed)), (), False, text)
