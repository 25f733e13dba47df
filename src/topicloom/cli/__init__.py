"""The command line: one file per command. Printing, progress bars and the clock live here only."""

from __future__ import annotations

import time

BEGAN = time.monotonic()  # when the command began, all but Python's own start
