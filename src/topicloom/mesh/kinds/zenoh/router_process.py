"""The program of a Zenoh node: all its routers, one for each account, in one process.

    python -m topicloom.mesh.kinds.zenoh.router_process TRACE ID=CONFIG...

Each router takes its configuration file and the identifier given. The file TRACE gets one line for every
message that a router takes up, from Zenoh's own trace. One process holds any number of routers at little more
than the cost of one. It ends on SIGTERM or Ctrl-C, and when the process that started it is gone.

The links of all routers are sent to every client that connects to the port in the file TRACE.port. They come
from the sessions, because the admin space must not be asked (zenoh 1.10.2): a router that answers which
subscribers it knows while one declares itself waits for itself and never does anything again, and one that is
asked for `route/successor` while routes are being worked out panics.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from topicloom.mesh.model.config_files import LOOPBACK

TRACED = "warn,zenoh::net::routing::dispatcher::pubsub=trace"
LOOK = 0.5  # seconds between two looks for the parent
ANSWER = 5.0  # seconds to hand an answer over


def main(arguments: Sequence[str]) -> int:
    """Run the routers until a signal, or the end of the parent."""
    import zenoh

    parent, stop = os.getppid(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    trace, *routers = arguments
    _trace_to(trace)
    zenoh.init_log_from_env_or(TRACED)
    held: dict[str, Any] = {}
    for router in routers:
        identifier, _, config = router.partition("=")
        try:
            held[identifier] = zenoh.open(_config(zenoh, identifier, config))
        except zenoh.ZError as error:
            sys.stderr.write(f"router {config}: {error}\n")
            return 1
    _serve(f"{trace}.port", held)
    while not stop.wait(LOOK) and os.getppid() == parent:
        pass
    return 0


def _trace_to(path: str) -> None:
    """Send standard output, where Zenoh writes its trace, to a file, without colours."""
    os.environ["NO_COLOR"] = "1"
    os.environ.pop("RUST_LOG", None)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, sys.stdout.fileno())
    os.close(file)


def _config(zenoh: Any, identifier: str, path: str) -> Any:
    config = zenoh.Config.from_file(path)
    config.insert_json5("id", f'"{identifier}"')
    # Without scouting there is nothing to wait for; by default a router waits half a second.
    config.insert_json5("scouting/delay", "0")
    return config


def _serve(path: str, routers: Mapping[str, Any]) -> None:
    """Answer every connection with one document: the routers that each of these is linked to."""
    server = socket.create_server((LOOPBACK, 0))

    def answer() -> None:
        while True:
            channel, _ = server.accept()
            with channel, suppress(OSError):
                channel.settimeout(ANSWER)
                told = {name: [str(one) for one in held.info.routers_zid()] for name, held in routers.items()}
                channel.sendall(msgspec.json.encode(told))

    threading.Thread(target=answer, daemon=True).start()
    with open(f"{path}.new", "w") as file:
        file.write(str(server.getsockname()[1]))
    os.replace(f"{path}.new", path)


if __name__ == "__main__":
    # Closing sessions in good order takes seconds; to the other routers a closed socket says the same.
    os._exit(main(sys.argv[1:]))
