"""Every error a user can meet, in one hierarchy; nothing here does any work.

    TopicloomError            exit 2; the base of all
    ├── InputError            a file, row, column, node or topic is not usable
    │   └── RefusedInputError would be refused again: nothing is kept to go on with
    ├── UsageError            an option or parameter is not usable
    ├── ProtocolError         bytes of another node are no message of ours; never reaches a user
    ├── MeshError             exit 1; brokers did not start, did not link up or died
    ├── MissingJavaError      no Java 17 or newer and no bundled one either
    └── Interrupted           exit 130; the user asked to stop

A message is one clear sentence that names the thing and says what to do next.
"""

from __future__ import annotations


class TopicloomError(Exception):
    """Base of all errors that are the caller's to mend."""

    exit_code = 2


class InputError(TopicloomError):
    """Data that was given cannot be used; the message names the file, row, column, node or topic."""


class RefusedInputError(InputError):
    """Data were read and are refused: whoever tries again with the same ends the same."""


class UsageError(TopicloomError):
    """An option or parameter cannot be used; the message names it and what is allowed."""


class ProtocolError(TopicloomError):
    """What another node sent cannot be understood; drivers close the connection and say why."""


class MeshError(TopicloomError):
    """A mesh of brokers does not run; the message names the nodes or links and what the broker said."""

    exit_code = 1


class MissingJavaError(TopicloomError):
    """Spark needs a Java that is not there."""


class Interrupted(TopicloomError):  # noqa: N818 - it is not a fault
    """The user asked to stop; nothing half-written is left behind."""

    exit_code = 130
