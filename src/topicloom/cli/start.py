"""Where the `topicloom` command begins: nothing heavy is imported until Ctrl-C is taken care of."""

from __future__ import annotations

import logging
import signal
import sys


def main() -> None:
    """Load the command line and run it; an interrupt while it loads is one sentence too."""
    # The library that talks to Java logs an interrupted call with its traceback; users need not see it.
    logging.getLogger().addHandler(logging.NullHandler())
    # Schedulers end a job this way: it should say what it keeps, like after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from topicloom.cli.main import run
    except KeyboardInterrupt:
        sys.stderr.write("topicloom: interrupted; nothing was started\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
