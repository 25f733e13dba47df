"""Write an example to try things on: a table, tables for a mesh, brokers with a mistake in their bridges."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from topicloom.base.atomic_write import check_writable, replacing
from topicloom.base.registry import find
from topicloom.base.summaries import Summary
from topicloom.errors import InputError
from topicloom.overlay.workloads.chain import chain_tables
from topicloom.overlay.workloads.laws import sample_path

RING = ("site1", "site2", "site3")
HEADER = b"node\ttopic\n"


@dataclass(frozen=True, slots=True)
class Example:
    """What there is to see, and its files by name; one alone is written as a file, several as a folder."""

    about: str
    files: Callable[[], Mapping[str, bytes]]


class WrittenExample(Summary, frozen=True):
    """Which example was written, and its files."""

    example: str
    about: str
    out: str
    files: list[str]


def _table(name: str) -> Callable[[], Mapping[str, bytes]]:
    return lambda: {f"{name}.tsv": HEADER + gzip.decompress(sample_path(name).read_bytes())}


def _chain() -> Mapping[str, bytes]:
    return {
        name: "".join(",".join(row) + "\n" for row in rows).encode() for name, rows in chain_tables().items()
    }


def _brokers() -> Mapping[str, bytes]:
    """Three brokers, each bridged to the next for everything: messages go round for ever."""
    following = zip(RING, (*RING[1:], RING[0]), strict=True)
    return {
        f"{site}.conf": f"listener 1883\nallow_anonymous true\n\nconnection to-{other}\n"
        f"address {other}\ntopic # both 1\n".encode()
        for site, other in following
    }


EXAMPLES: Mapping[str, Example] = {
    "px4": Example("modules of the PX4 flight stack and their messages (CC BY 4.0)", _table("px4")),
    "autoware": Example("ROS 2 nodes and topics of an Autoware trace (Apache-2.0)", _table("autoware")),
    "chain": Example("fifty shops of a chain: who wants what, who publishes, where brokers run", _chain),
    "brokers": Example("configurations of three Mosquitto brokers that are bridged in a ring", _brokers),
}


def write_example(name: str, out: Path | None = None) -> WrittenExample:
    """Write the example `name` to `out`, a file or a folder that does not hold anything else."""
    example = find("name", EXAMPLES, name)
    files = example.files()
    alone = next(iter(files)) if len(files) == 1 else None
    out = out or Path(alone or name)
    check_writable(out, f"`out={out}`")
    if alone:
        if out.exists() and (not out.is_file() or out.read_bytes() != files[alone]):
            raise InputError(f"`out={out}` is there already and is something else; name another file")
        with replacing(out) as temporary:
            temporary.write_bytes(files[alone])
        return WrittenExample(name, example.about, str(out), [str(out)])
    if out.exists() and not (out.is_dir() and {path.name for path in out.iterdir()} <= set(files)):
        raise InputError(f"`out={out}` is there already and holds something else; name another folder")
    with replacing(out) as temporary:
        temporary.mkdir()
        for file, content in files.items():
            (temporary / file).write_bytes(content)
    return WrittenExample(name, example.about, str(out), [str(out / file) for file in files])
