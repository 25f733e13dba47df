"""A run is over when nothing under way changes anything: among many nodes some message always is."""

from __future__ import annotations

from spidercast.simulator.worlds import rss
from topicloom.spidercast.protocol.insight import is_no_news
from topicloom.spidercast.protocol.messages import Disconnect, Probe, TaskId
from topicloom.spidercast.simulator.run import SimulationRun
from topicloom.spidercast.simulator.scenario import Scenario


def test_probes_and_refused_partings_under_way_are_no_news() -> None:
    """Of thousands of nodes somebody probes at any moment: a run that waits for that would never end."""
    run = SimulationRun(rss(60), Scenario.of("spidercast", ["diameters=never"], seed=1))
    assert run.finish().settled
    node = run.world.present(0)
    names = {topic: root[:2] for topic, root in node.roots.items()}
    assert names
    assert is_no_news(node, 59, Probe(names))
    assert is_no_news(node, 59, Probe({-1: (0, 0)})), "a topic that it does not have"
    topic, (life, name) = next(iter(names.items()))
    assert not is_no_news(node, 59, Probe({topic: (life - 1, name)}))
    task = node._tasks[TaskId.GREEDY]
    needed = [peer for peer in task.neighbors if task.needs(peer)]
    spare = [peer for peer in task.neighbors if not task.needs(peer)]
    assert needed
    assert all(is_no_news(node, peer, Disconnect(TaskId.GREEDY)) for peer in needed)
    assert not any(is_no_news(node, peer, Disconnect(TaskId.GREEDY)) for peer in spare)
