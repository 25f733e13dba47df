"""Who may do what at a Zenoh router: its clients, the links that come in, and the router that it dials.

Whoever comes in shows a user, and has the rights of that user. Of the router that is dialled no user is
known, so it is told by its identifier, and by the name in its certificate where there is one. Rights of
several subjects add up in Zenoh (1.10), so there is none that everybody has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from topicloom.mesh.model.directions import IN, OUT
from topicloom.mesh.plan.certificates import common_name
from topicloom.mesh.plan.mesh_plan import MeshPlan
from topicloom.mesh.plan.request import Request

# Nobody may ask anything: a question for its admin space can stop a router for ever (see router_process.py).
DATA, INTEREST = ("put", "delete"), ("declare_subscriber",)
Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Subject:
    """Somebody at the other end: how it is told, what it may get from here, and what it may send."""

    told: Json
    reads: Sequence[str]
    writes: Sequence[str]


def router_id(stem: str, account: str) -> str:
    """Return the identifier of a router: it stays what it is as long as the node has its name.

    >>> router_id("site-1", "A0") == router_id("site-1", "A0") != router_id("site-1", "A1")
    True
    """
    return "a" + sha256(f"{stem}~{account}".encode()).hexdigest()[:15]  # Zenoh takes no leading zero


def access_control(plan: MeshPlan, request: Request, node: str, account: str) -> Json:
    """Return the part of the configuration: what nobody was given is denied."""
    rules: list[Json] = []
    subjects: list[Json] = []
    policies: list[Json] = []
    for number, one in enumerate(_subjects(plan, request, node, account)):
        own = [{"id": f"rule-{number}-{at}", **rule} for at, rule in enumerate(_rules(one))]
        if own:
            rules += own
            subjects.append({"id": f"subject-{number}", **one.told})
            named = [rule["id"] for rule in own]
            policies.append({"id": f"policy-{number}", "rules": named, "subjects": [f"subject-{number}"]})
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": subjects,
        "policies": policies,
    }


def _subjects(plan: MeshPlan, request: Request, node: str, account: str) -> Iterator[_Subject]:
    topics = [one for one in plan.topics_of[node] if one.account == account]
    yield _Subject(
        {"usernames": [request.logins[node].user]},
        [one.name for one in topics if node in one.hearers],
        [one.name for one in topics if node in one.senders],
    )
    for link in plan.accepted[node]:
        if link.account == account:
            # What goes out of the dialer is written here.
            yield _Subject({"usernames": [link.name]}, plan.carried(link, OUT), plan.carried(link, IN))
    for link in plan.dialled[node]:
        if link.account == account:
            stem = plan.stems[link.acceptor]
            told: Json = {"zids": [router_id(stem, account)]}
            shown = common_name(request.tls, stem) if request.tls else None
            if shown is not None:
                told["cert_common_names"] = [shown]
            yield _Subject(told, plan.carried(link, IN), plan.carried(link, OUT))


def _rules(one: _Subject) -> Iterator[Json]:
    """Yield the rules of a subject: data flows to where interest was declared."""
    if one.reads:
        yield _rule(DATA, "egress", one.reads)
        yield _rule(INTEREST, "ingress", one.reads)
    if one.writes:
        yield _rule(DATA, "ingress", one.writes)
        yield _rule(INTEREST, "egress", one.writes)


def _rule(messages: Sequence[str], flow: str, names: Sequence[str]) -> Json:
    return {"permission": "allow", "flows": [flow], "messages": list(messages), "key_exprs": list(names)}
