"""Why an edge, a node or a topic of an overlay looks as it does."""

from __future__ import annotations

from topicloom.api.arguments import EdgesLike, InterestLike, as_overlay, check_whole, interest_beside
from topicloom.errors import UsageError
from topicloom.overlay.jobs.explain import explain_edge, explain_node, explain_topic
from topicloom.overlay.model.explanation import Explanation
from topicloom.overlay.model.python_tables import refuse


def explain(
    edges: EdgesLike,
    *,
    edge: tuple[str | int, str | int] | None = None,
    node: str | int | None = None,
    topic: str | int | None = None,
    interest: InterestLike | None = None,
    threads: int | None = None,
) -> Explanation:
    """Tell what an `edge` carries, who a `node` talks to and why, or how a `topic` hangs together.

    Also what would split without it. Edges of your own need the `interest` beside them.

    >>> wants = {"a": ["x"], "b": ["x", "y"], "c": ["y"]}
    >>> explain([("a", "b"), ("b", "c")], interest=wants, edge=("a", "b"))
    'a' and 'b' share 1 topic, which this edge carries: 'x'
    without it 1 topic would split:
      'x': components of 1 (with 'a'), 1 (with 'b')
    topic 'x', the edge drawn double:
    a
    └═ b
    """
    check_whole("threads", threads, least=1, none=True)
    if sum(one is not None for one in (edge, node, topic)) != 1:
        raise UsageError("give one of `edge`, `node` and `topic`")
    if edge is not None and not (isinstance(edge, tuple | list) and len(edge) == 2):
        raise refuse("edge", "the names of two nodes", edge)
    found = interest_beside(edges, interest)
    overlay = as_overlay(found, edges)
    if edge is not None:
        return explain_edge(found, overlay, *edge)
    if node is not None:
        return explain_node(found, overlay, node)
    assert topic is not None  # one of the three is given
    return explain_topic(found, overlay, topic, threads=threads)
