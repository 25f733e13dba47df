"""What an interest looks like before anything is built on it: what `topicloom inspect` prints.

The top-d intersection is that of [Chockler2007b, 3.4]: for a node, the mean over the d other nodes most
similar to it of |A & B| / min(|A|, |B|), averaged over nodes, in percent. As there (20 for 10 topics per
node, 40 for 20, "tdi(2d)"), d is twice the average subscription size, rounded, and at most nodes - 1.
All nodes are measured up to EXACT_NODES of them and EXACT_WORK list entries to read; otherwise a seeded
sample of nodes is measured against all nodes, and `intersection_exact` is false.
The sentences of advice are in `profile_advice.py`.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from topicloom.base.arrays import Ints, Longs, sorted_distinct
from topicloom.base.kernels.parallel import default_threads, for_slices
from topicloom.base.progress import SILENT, Progress
from topicloom.base.seeds import generator
from topicloom.base.summaries import Summary
from topicloom.overlay.kernels.shared_topics import top_intersections
from topicloom.overlay.measures.components import find_components
from topicloom.overlay.measures.profile_advice import Default, advise
from topicloom.overlay.model.interest import Interest

EXACT_NODES = 10_000
EXACT_WORK = 1_000_000_000
SAMPLE_NODES = 2_000
SAMPLE_LEAST = 200
TOP_TOPICS = 10
SLICE = 64


class Spread(Summary, frozen=True):
    """Topics per node: smallest, average, median, largest."""

    min: int = 0
    avg: float = 0.0
    median: float = 0.0
    max: int = 0


class TopTopic(Summary, frozen=True):
    """A topic, how many nodes want it, and which share of all that is."""

    topic: str
    subscribers: int
    share: float


class Intersection(Summary, frozen=True):
    """tdi(d) in percent with its d, the number of nodes measured, and the topics shared on average."""

    intersection: float
    intersection_d: int
    intersection_nodes: int
    intersection_exact: bool
    shared_topics: float


class Profile(Summary, frozen=True):
    """The figures of one interest.

    In `alike` the intersection is in percent, `shared_topics` the number of topics behind it (of equally
    similar nodes those that share more). `ring_degree_avg` is exact for a ring per topic in the order of the
    nodes; `expected_degree_avg` is a rough guess for a greedy overlay, see `expected_degree`.
    """

    nodes: int
    topics: int
    subscriptions: int
    subscription_size: Spread
    topics_single: int
    components: int | None  # None: too many names to count them
    identical_share: float
    top_topics: tuple[TopTopic, ...]
    alike: Intersection
    ring_degree_avg: float
    expected_degree_avg: float
    advice: tuple[str, ...] = ()

    FLAT = frozenset({"alike"})


def profile_interest(
    interest: Interest,
    *,
    threads: int | None = None,
    seed: int = 0,
    greedy_degree: float | None = None,
    default: Default | None = None,
    progress: Progress = SILENT,
) -> Profile:
    """Measure an interest; the same seed gives the same sample.

    `greedy_degree` is the average degree of a greedy overlay where somebody knows it; else it is guessed.
    `default` is the builder that would run, with its seconds: the advice speaks of it.

    >>> pairs = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "z")]
    >>> found = profile_interest(Interest.from_pairs(pairs))
    >>> found.components, found.topics_single, found.identical_share
    (2, 1, 0.0)
    """
    progress.phase("interest", None)
    joined = Profile(
        nodes=interest.n_nodes,
        topics=interest.n_topics,
        subscriptions=interest.n_subscriptions,
        subscription_size=_spread(interest.subscription_sizes()),
        topics_single=int(np.count_nonzero(interest.topic_sizes() == 1)),
        components=len(find_components(interest).sizes),
        identical_share=identical_share(interest),
        top_topics=top_topics(interest),
        alike=top_d_intersection(interest, threads or default_threads(), seed=seed, progress=progress),
        ring_degree_avg=ring_degree(interest),
        expected_degree_avg=0.0,
    )
    greedy = expected_degree(joined) if greedy_degree is None else greedy_degree
    found = replace(joined, expected_degree_avg=greedy)
    return replace(found, advice=advise(found, default))


def _spread(sizes: Longs) -> Spread:
    if len(sizes) == 0:
        return Spread()
    return Spread(int(sizes.min()), float(sizes.mean()), float(np.median(sizes)), int(sizes.max()))


def identical_share(interest: Interest) -> float:
    """Return the share of nodes whose exact set of topics some other node has too."""
    counts = np.bincount(interest.twin_classes())
    return float(counts[counts > 1].sum()) / max(interest.n_nodes, 1)


def top_topics(interest: Interest) -> tuple[TopTopic, ...]:
    """Return the topics most nodes want, ties by identifier."""
    sizes = interest.topic_sizes()
    first = np.argsort(-sizes, kind="stable")[:TOP_TOPICS]
    names = interest.topic_ids.take(first).to_pylist()
    return tuple(
        TopTopic(name, count, count / max(interest.n_nodes, 1))
        for name, count in zip(names, sizes[first].tolist(), strict=True)
    )


def ring_degree(interest: Interest) -> float:
    """Return the average degree of a ring per topic whose nodes stand in their own order.

    >>> ring_degree(Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("b", "y")]))
    2.0
    """
    sizes = interest.topic_sizes()
    nodes = interest.topic_nodes.astype(np.int64)
    following = np.roll(nodes, -1)
    last = (interest.topic_ptr[1:] - 1)[sizes > 0]
    following[last] = nodes[interest.topic_ptr[:-1][sizes > 0]]
    low, high = np.minimum(nodes, following), np.maximum(nodes, following)
    edges = sorted_distinct((low * max(interest.n_nodes, 1) + high)[low < high])
    return 2 * len(edges) / max(interest.n_nodes, 1)


def expected_degree(found: Profile) -> float:
    """Guess the average degree of a greedy overlay, within some 40% for all but small interests.

    Every topic must join subscribers - 1 times, and an edge between nodes most like each other joins as
    many topics as those share; never less than a spanning tree of each group, nor more than the rings.
    """
    nodes = max(found.nodes, 1)
    joins = 2 * (found.subscriptions - found.topics) / nodes
    tree = 2 * (found.nodes - (found.components or 1)) / nodes
    return float(min(max(joins / max(found.alike.shared_topics, 1.0), tree), found.ring_degree_avg))


def top_d_intersection(
    interest: Interest, threads: int, *, seed: int = 0, progress: Progress = SILENT
) -> Intersection:
    """Measure how alike nodes are: tdi(d)."""
    d = min(round(2 * interest.n_subscriptions / max(interest.n_nodes, 1)), interest.n_nodes - 1)
    nodes, exact = (np.empty(0, np.int32), True) if d < 1 else _measured_nodes(interest, seed)
    shares, shared = np.zeros(len(nodes)), np.zeros(len(nodes))
    lists = interest.sealed_lists()

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        top_intersections(nodes[part], d, lists, shares[part], shared[part])

    progress.phase("top-d intersection", len(nodes))
    for_slices(work, len(nodes), slice_size=SLICE, threads=threads, progress=progress)
    return Intersection(
        intersection=100 * float(shares.mean()) if len(nodes) else 0.0,
        intersection_d=max(d, 0),
        intersection_nodes=len(nodes),
        intersection_exact=exact,
        shared_topics=float(shared.mean()) if len(nodes) else 0.0,
    )


def _measured_nodes(interest: Interest, seed: int) -> tuple[Ints, bool]:
    """Choose all nodes, or a sample small enough for the work allowed; and tell whether it is all."""
    n = interest.n_nodes
    work = float((interest.topic_sizes().astype(np.float64) ** 2).sum())
    if n <= EXACT_NODES and work <= EXACT_WORK:
        return np.arange(n, dtype=np.int32), True
    affordable = int(EXACT_WORK / (work / n))
    size = min(max(affordable, SAMPLE_LEAST), SAMPLE_NODES, n)
    chosen = generator(seed, "profile", "intersection").choice(n, size=size, replace=False)
    return np.sort(chosen).astype(np.int32), size == n
