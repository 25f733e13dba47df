"""The small real tables that come with the package (see data/NOTICE.md)."""

from __future__ import annotations

from pathlib import Path

import topicloom

SAMPLES = {
    "px4": "px4-uorb-pubsub.tsv.gz",
    "autoware": "ros2-autoware-pubsub.tsv.gz",
}


def sample_path(name: str) -> Path:
    """Where the bundled table `name` lies: TSV without a header, node and topic."""
    return Path(topicloom.__file__).parent / "data" / SAMPLES[name]
