"""Threads for calls that may hang; the sessions themselves are tested with real routers."""

from __future__ import annotations

import os
import sys
import time

import pytest

from topicloom.mesh.kinds.zenoh.sessions import DaemonThreads


def test_the_program_ends_while_a_thread_hangs():
    """A router that does not answer any more must not keep us; a result comes as from any executor."""
    script = (
        "import time; from topicloom.mesh.kinds.zenoh.sessions import DaemonThreads;"
        "pool = DaemonThreads(1);"
        "print(pool.submit(pow, 2, 5).result(), flush=True); pool.submit(time.sleep, 600); pool.shutdown()"
    )
    began = time.monotonic()
    assert os.waitstatus_to_exitcode(os.system(f'{sys.executable} -c "{script}"')) == 0
    assert time.monotonic() - began < 300
    with pytest.raises(ZeroDivisionError):
        DaemonThreads(1).submit(divmod, 1, 0).result()
