"""The `topicloom` command: gathers the commands, turns errors into one sentence and an exit code."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from contextlib import suppress
from typing import Annotated

import typer
from typer.exceptions import TyperException

from topicloom.cli.commands import group_app
from topicloom.errors import TopicloomError
from topicloom.version import __version__

DEBUG = "TOPICLOOM_DEBUG"
PATIENCE = 3.0  # seconds that processes of ours get to end after an interrupt
INTERRUPTED = 130
LONGEST, SHOWN = 1000, 100  # characters of a word in a message: more than this are shortened to that
COMMANDS = (
    "generate", "inspect", "build", "improve", "verify", "measure", "compare", "explain", "simulate",
    "export", "run", "mesh", "content", "report", "reproduce", "demo", "example", "pack", "warm",
)  # fmt: skip

app = group_app(
    "topicloom",
    __package__,
    COMMANDS,
    "Designs and proves publish/subscribe overlays: few connections per node, and every message travels only "
    "through nodes that want it.\n\n"
    "Start with: [bold]topicloom demo[/bold], or [bold]topicloom build TABLE.csv --out DIR[/bold].",
    completion=True,
)


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Carry the help text of `--version`, which `run` answers itself."""


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with the right exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments:
        arguments = ["--help"]
    if arguments[:1] == ["--version"]:
        print(f"topicloom {__version__}")
        sys.exit(0)
    code = execute(arguments)
    if code == INTERRUPTED:
        _leave_at_once(code)
    sys.exit(code)


def _leave_at_once(code: int) -> None:
    """End without waiting for kernels that still run in other threads: nobody wants their results."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # impatient users press Ctrl-C twice
    session = sys.modules.get("topicloom.tables.spark.session")
    if session is not None:
        session.stop_session()
    # Child processes may have been interrupted before they ran their program.
    deadline = time.monotonic() + PATIENCE
    with suppress(ChildProcessError):  # none is left
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def execute(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = app(args=arguments, standalone_mode=False)
        # Typer itself turns Ctrl-C into this exit code, without a word.
        return _interrupted() if code == INTERRUPTED else code if isinstance(code, int) else 0
    except typer.Exit as leave:
        return leave.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except TyperException as error:
        return _complain(_usage(error), 2)
    except TopicloomError as error:
        return _complain(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away (`topicloom ... | head`): nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _complain("the machine ran out of memory; try fewer nodes or a larger machine", 2)
    except Exception as error:
        if DEBUG in os.environ:
            raise
        what = "" if isinstance(error, OSError) else f"internal error, {type(error).__name__}: "
        first = next(iter(str(error).splitlines()), "no message")
        return _complain(f"{what}{first}; {DEBUG}=1 shows more", 2)


def _interrupted() -> int:
    return _complain("interrupted; nothing half-written is left", INTERRUPTED)


def _usage(error: TyperException) -> str:
    text = error.format_message().rstrip(".").replace("\n", " ")
    context = getattr(error, "ctx", None)
    if context is None:
        return text
    return f"{text}{' See' if text.endswith('?') else '; see'} {context.command_path} --help"


def _complain(sentence: str, code: int) -> int:
    # A word of a file may have a million characters; nobody reads them.
    plain = re.sub(rf"\S{{{LONGEST},}}", lambda word: f"{word[0][:SHOWN]}...{word[0][-SHOWN:]}", sentence)
    sys.stderr.write(f"topicloom: {plain}\n")
    return code
