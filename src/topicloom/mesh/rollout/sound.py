"""What a roll-out may start from, and what its plan may say: checked before anything is written or started.

Manifests and plans may have been edited, or be of another mesh.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from topicloom.mesh.model.mesh import Mesh, components_of, neighbors_by_topic
from topicloom.mesh.plan.secrets import Secrets
from topicloom.mesh.rollout.effects import touched_nodes
from topicloom.mesh.rollout.states import loops_in

Nodes = Mapping[str, Sequence[str]]  # by phase


def fault_of_links(mesh: Mesh, *, connected: bool) -> str | None:
    """Return why the links of a mesh are none of an export: a loop, a stranger, or a topic that is split."""
    wanting = {topic.topic: set(topic.subscribers) for topic in mesh.topics}
    for link in mesh.links:
        for topic in link.topics:
            for end in (link.dialer, link.acceptor, *link.backups):
                if end not in wanting[topic]:
                    return f"link {link.name!r} leads topic {topic!r} to {end!r}, which does not want it"
    loop = next(iter(loops_in(mesh.links)), None)
    if loop is not None or not connected:
        return loop
    near = neighbors_by_topic((link.dialer, link.acceptor, link.topics) for link in mesh.links)
    for name in mesh.topics:
        parts = components_of(name.subscribers, near.get(name.topic, {}))
        if len(parts) > 1:
            return f"no links lead topic {name.topic!r} from {parts[0][0]!r} to {parts[1][0]!r}"
    return None


def fault_of_secrets(mesh: Mesh, secrets: Secrets) -> str | None:
    """Return what the secrets of a mesh with logins do not have: they may be those of another one."""
    for node in mesh.nodes:
        login = secrets.clients.get(node.name)
        if node.user is not None and (login is None or login.user != node.user):
            return f"has no login {node.user!r} for node {node.name!r}"
    if any(node.user is not None for node in mesh.nodes):
        for link in mesh.links:
            if link.name not in secrets.links:
                return f"has no password for link {link.name!r}"
    return None


def fault_of_plan(
    meshes: Sequence[Mesh], folders: Sequence[Path], touched: Sequence[Collection[str]], reloaded: Nodes
) -> str | None:
    """Return what is wrong with the brokers that a plan touches from one mesh to the next."""
    for number, own in enumerate(touched, 1):
        (before, after), (was, becomes) = meshes[number - 1 : number + 1], folders[number - 1 : number + 1]
        old, new = ({node.name for node in mesh.nodes} for mesh in (before, after))
        light = reloaded.get(f"phase{number}", ())
        for node in own:
            if node not in old | new:
                return f"phase {number} touches {node!r}, which is no node of the mesh"
        if len(set(own)) < len(own):
            return f"phase {number} touches a node twice"
        for node in light:
            if node not in own or node not in old & new:
                return f"phase {number} reloads {node!r}, which it does not touch"
        changed, _ = touched_nodes(was, before, becomes, after, reloads=False)
        for node in changed:
            if node not in own:
                return f"files of {node!r} differ, but phase {number} does not touch it"
    return None
