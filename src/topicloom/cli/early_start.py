"""Begin the start of Spark while a command is still being loaded: both take a second and more.

Only where the words of the command leave no doubt that Spark will read a table; any other command starts it
when it asks for it. A start that fails is tried again then, and told then.
"""

from __future__ import annotations

from collections.abc import Sequence

READERS = frozenset({"inspect", "build", "verify", "measure", "compare", "simulate"})
# With one of these nothing is read, or not by a session of this process that begins like all others.
DOUBTS = ("-h", "--help", "--list", "--rules", "--engine", "--master", "--spark-conf", "--event-log")


def begin_early(command: str, words: Sequence[str]) -> None:
    """Begin to start Spark if this command will surely read its first table with it."""
    path = table_of(command, words)
    if path is None:
        return
    from topicloom.tables.source import are_small, check_there, interest_source
    from topicloom.tables.spark.spark_choice import SparkChoice

    source, choice = interest_source(path), SparkChoice()
    try:
        check_there(source)
        if choice.reads_here(source):
            return
        choice = SparkChoice(quick=are_small(path))
    except Exception:  # whatever it is, the command itself will say it
        return
    choice.begin()


def table_of(command: str, words: Sequence[str]) -> str | None:
    """Return the table that stands right behind the command, None where there is any doubt.

    >>> table_of("build", ["t.csv", "--out", "b"]), table_of("build", ["--list"]), table_of("run", ["t.csv"])
    ('t.csv', None, None)
    """
    told = [word.partition("=")[0] for word in words]
    if command not in READERS or not words or words[0].startswith("-") or set(told) & set(DOUBTS):
        return None
    if command == "build" and "--out" not in told:
        return None
    return words[0]
