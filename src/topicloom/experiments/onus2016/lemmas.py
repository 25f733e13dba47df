"""[Onus2016, Lemmas 1, 5, 6, 7]: the instances on which the older algorithms are bad, and diameters of 2."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import Near
from topicloom.experiments.lines import build, instance, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale

N = 8
OF = {"Lemma 1": "onus-lemma-1", "Lemma 5": "onus-lemma-5", "Lemma 6": "onus-lemma-6"}


def runs(scale: Scale) -> Iterator[Run]:
    for n in scale.xs:
        first, fifth, sixth = (instance(name, n) for name in OF.values())
        yield build("Lemma 1, MinMax-ODA", n, first, "minmax-oda")
        yield build("Lemma 5, CD-ODA", n, fifth, "cd-oda")
        yield build("Lemma 6, CD-ODA-I", n, sixth, "cd-oda-i")
        yield build("Lemma 6, CD-ODA-II", n, sixth, "cd-oda-ii")
        seventh = build("Lemma 7, 2D-ODA", n, fifth, "2d-oda")
        yield Run(seventh.line, n, seventh.task, {**seventh.settings, "hops": True})
        for lemma, on in zip(OF, (first, fifth, sixth), strict=True):
            yield build(f"{lemma}, balanced", n, on, "balanced", ours=True)


EXPERIMENT = Experiment(
    item="Lemmas 1, 5, 6, 7",
    title="Instances of the proofs",
    x="n",
    runs=runs,
    quick=Scale((4, 6, N), 1),
    full=Scale((4, 6, N), 1),
    claims=(
        Claim(
            text=f"Lemma 1: MinMax-ODA takes n(n - 2)/2 edges for n = {N}",
            expected=Near(N * (N - 2) / 2),
            measure=value("Lemma 1, MinMax-ODA", N, "edges"),
            cannot="topic t(i,i) is wanted by nodes 1 and i alone, so node 1 has n - 1 edges, more than "
            "n - 2 matchings give it; the order n^2 holds",
        ),
        Claim(
            text=f"Lemma 5: CD-ODA can take all n(n - 1)/2 edges for n = {N}",
            expected=Near(N * (N - 1) / 2),
            measure=value("Lemma 5, CD-ODA", N, "edges"),
        ),
        Claim(
            text=f"Lemma 6: CD-ODA-I takes n(n - 1)/2 + n edges for n = {N}",
            expected=Near(N * (N - 1) / 2 + N),
            measure=value("Lemma 6, CD-ODA-I", N, "edges"),
        ),
        Claim(
            text=f"Lemma 6: CD-ODA-II takes n(n - 1)/2 + n edges for n = {N}",
            expected=Near(N * (N - 1) / 2 + N),
            measure=value("Lemma 6, CD-ODA-II", N, "edges"),
            cannot="the u nodes have the largest density, so it finds the optimum 2n - 1",
        ),
        Claim(
            text=f"Lemma 7: 2D-ODA gives diameter 2 inside every topic (instance of Lemma 5, n = {N})",
            expected=Near(2.0),
            measure=value("Lemma 7, 2D-ODA", N, "diameter_topic_max"),
        ),
    ),
    figures=(Figure(y="edges", key="edges"),),
)
