"""What the figures of an interest mean for an overlay, in plain sentences. No figures are made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.counts import counted

if TYPE_CHECKING:
    from topicloom.overlay.measures.profile import Profile

# Percent of top-d intersection from which an interest is called strongly, or somewhat, correlated.
STRONG, SOME = 75.0, 45.0
WORTHWHILE = 1.25  # how many times fewer edges than a ring per topic are worth a sentence
FOLDING = 100  # fewer nodes than this need no word about what is large or fast
# The builder that runs when none is named, and how long balanced would take, in words.
Default = tuple[str, str]


def advise(found: Profile, default: Default | None = None) -> tuple[str, ...]:
    """Advise a person who has to choose a builder; `default` where somebody knows it."""
    if found.ring_degree_avg == 0:
        return ("There is nothing to connect: no two nodes share a topic.",)
    return (*_correlation(found), *_structure(found), *_builders(default))


def _correlation(found: Profile) -> list[str]:
    alike = found.alike
    percent = alike.intersection
    word = "strongly" if percent >= STRONG else "somewhat" if percent >= SOME else "weakly"
    measured = "" if alike.intersection_exact else f" (sample of {alike.intersection_nodes:,} nodes)"
    ring, greedy = found.ring_degree_avg, found.expected_degree_avg
    return [
        f"Interests are {word} correlated: with the {counted(alike.intersection_d, 'node')} most like it a "
        f"node shares on average {percent:.0f}% of the smaller topic list, {alike.shared_topics:.1f} topics"
        f"{measured}.",
        f"Expect roughly {greedy:.1f} neighbors per node on average from gm, {ring / greedy:.1f} times "
        f"fewer than the {ring:.1f} of a ring per topic."
        if ring >= WORTHWHILE * greedy
        else f"Edges rarely serve several topics at once here: expect roughly {greedy:.1f} neighbors per "
        f"node on average from gm, little less than the {ring:.1f} of a ring per topic.",
    ]


def _structure(found: Profile) -> list[str]:
    lines = []
    if found.identical_share >= 0.1 and found.nodes >= FOLDING:
        lines.append(
            f"{100 * found.identical_share:.0f}% of the nodes have exactly the topics of another node; "
            "the greedy builders fold such nodes, which makes them much faster here."
        )
    head = found.top_topics[0]
    if head.share >= 0.5 and found.nodes >= FOLDING:
        lines.append(
            f"Topic {head.topic!r} is wanted by {100 * head.share:.0f}% of the nodes: it alone needs "
            f"{head.subscribers - 1:,} edges."
        )
    if found.components is not None and found.components > 1:
        lines.append(
            f"The nodes fall into {found.components:,} components that share no topic: the overlay will "
            "have at least as many components, and that is right."
        )
    if found.topics_single:
        lines.append(
            f"{found.topics_single:,} of {counted(found.topics, 'topic')} "
            f"{'has' if found.topics_single == 1 else 'have'} one subscriber only, where no edge is needed."
        )
    return lines


def _builders(default: Default | None) -> list[str]:
    name, told = default or ("balanced", "")
    expected = f", in {told} on this machine" if told else ""
    if name == "balanced":
        first = f"Builders: balanced, the default, gives a low average and a low maximum degree{expected}."
    else:
        first = (
            f"Builders: balanced would take more than ten minutes by its time model ({told} on this "
            f"machine), so the default is {name}, which takes less."
        )
    return [
        first,
        "gm gives few edges and gm-m a low maximum degree in the least time.",
        "2d-oda keeps every path within a topic to 2 hops, at the price of hubs with very many neighbors.",
    ]


def told_seconds(seconds: float) -> str:
    """Say how long something takes, roughly."""
    if seconds < 1:
        return "under 1 s"
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} min"
