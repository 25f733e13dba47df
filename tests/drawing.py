"""How many examples a property test draws; what else holds for all of them is a profile in conftest.py.

The environment variable EXAMPLES scales the number: less where each example is slow (kernels without
compilation), more in a long hunt.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

SCALE = float(os.environ.get("EXAMPLES", "1"))


def examples(count: int, **more: Any) -> settings:
    """So many examples, scaled."""
    return settings(max_examples=max(1, round(count * SCALE)), **more)
