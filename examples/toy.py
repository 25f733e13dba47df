"""Build and prove an overlay in a dozen lines: `python examples/toy.py`."""

import topicloom
from topicloom import Interest

interest = Interest.from_pairs(
    [
        ("kitchen", "temperature"), ("kitchen", "smoke"), ("kitchen", "energy"),
        ("hall", "smoke"), ("hall", "motion"),
        ("attic", "temperature"), ("attic", "smoke"),
        ("garage", "energy"), ("garage", "motion"), ("garage", "smoke"),
        ("cellar", "temperature"), ("cellar", "energy"),
    ]
)  # fmt: skip
for algorithm in ("balanced", "gm", "gm-m", "ring-pt"):
    build = topicloom.build(interest, algorithm=algorithm)
    verdict = topicloom.verify(interest, build)
    degrees = build.overlay.degrees()
    print(
        f"{algorithm:8} {build.overlay.n_edges} edges, average degree {degrees.mean():.2f}, "
        f"maximum {degrees.max()}, topic-connected: {verdict.topic_connected}"
    )
