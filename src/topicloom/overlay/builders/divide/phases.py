"""What is done to one group, as pure functions that every engine may map over.

A group is built greedily, represented by few of its nodes [Chen2010, Definition 2 and Algorithm 13] and
joined to others through those: joining the representatives of topic-connected groups joins the groups.
`inner` says which greedy that is: GM-M as in the paper, GM, or GM under a cap (`capped_gm`).
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs, run_places, run_sums
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.builders.build_progress import GreedyProgress
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, choose_constrained
from topicloom.overlay.builders.divide.capped_gm import capped_gm
from topicloom.overlay.builders.divide.plan import BALANCED, GM, GM_M, Inner
from topicloom.overlay.builders.greedy import NO_LIMIT, Greedy
from topicloom.overlay.model.interest import Interest


def build_inner(
    group: Interest, inner: Inner = GM_M, *, threads: int | None = None, progress: Progress = SILENT
) -> Edges:
    """Build a topic-connected overlay of one group of light nodes: both ends of its edges.

    Its twins are linked as trees.
    """
    progress.phase("choose edges", 1.0)
    task = ConstrainedTask.of(group, threads=threads)
    if inner == BALANCED:
        return capped_gm(task, progress)
    return task.planted(choose_constrained(task, phases=inner == GM_M, progress=progress).edges)


def build_outer(
    group: Interest,
    clump: Ints,
    degree: Longs,
    degree_max: int,
    inner: Inner = GM_M,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Edges:
    """Return the edges that join representatives and bulk nodes; `group` is their interest.

    Nodes of one `clump` (SINGLE: none) count as joined on the topics they share, for the overlay of the
    group that they represent joins them. `degree` are their degrees so far and `degree_max` the largest of
    all nodes, here or not: the first phase takes every pair that does not raise it
    [Chen2010, Algorithm 2, line 5], and only GM looks at no degrees but to break ties.
    """
    progress = GreedyProgress(progress, group.n_subscriptions, scan_share=0.1, bend=1.2)
    phases = inner != GM
    greedy = Greedy(group, degree=degree.astype(np.int32), phases=phases, threads=threads, progress=progress)
    greedy.join_groups(clump)
    limit = max(degree_max, 1) if phases else NO_LIMIT
    greedy.run(limit)
    while greedy.open_joins:
        limit += 1
        greedy.run(limit)
    u, v, _ = greedy.steps()
    return u, v


def choose_representatives(interest: Interest, *, lambda_: int = 3, wanted: Bools | None = None) -> Ints:
    """Choose nodes, greedily, that hold every topic min(lambda, its subscribers) times; ascending.

    The next one is the node that wants the most topics that are not covered enough yet, the smallest of
    several. `wanted` marks the topics that matter (default: all). Algorithm 13 as printed asks for lambda
    subscribers even of a topic that has fewer, and then never ends.

    Guarantee: at most 1 + log(topics) times the smallest such set.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z")])
    >>> choose_representatives(interest, lambda_=1).tolist()
    [1, 2]
    >>> choose_representatives(interest, lambda_=2).tolist()
    [0, 1, 2]
    """
    missing = np.minimum(interest.topic_sizes(), lambda_)
    if wanted is not None:
        missing[~wanted] = 0
    gain = run_sums((missing > 0)[interest.node_topics].astype(np.int64), interest.node_ptr)
    chosen: list[int] = []
    while len(gain) and gain[best := int(gain.argmax())] > 0:
        chosen.append(best)
        topics = interest.topics_of(best)
        served = topics[missing[topics] > 0]
        missing[served] -= 1
        covered = served[missing[served] == 0]
        places = run_places(interest.topic_ptr[covered], interest.topic_sizes()[covered])
        np.subtract.at(gain, interest.topic_nodes[places], 1)
        gain[best] = -interest.n_topics  # never again
    return np.array(sorted(chosen), dtype=np.int32)


def topics_elsewhere(group: Interest, topic_sizes: Longs) -> Bools:
    """Return T_out of a group: its topics that someone outside wants too.

    `topic_sizes` are those of the whole interest, so that bulk nodes count. Algorithm 12, line 6 looks at
    the other groups only, which can leave a topic of bulk nodes split.
    """
    own = group.topic_sizes()
    return (own > 0) & (topic_sizes > own)
