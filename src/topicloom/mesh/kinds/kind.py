"""What one kind of broker can do; jobs and the command line know no more of it than this.

A kind is one folder here and one line in registry.py. What it cannot do is a sentence in the place of what
would do it. Values only: client libraries load with the adapter, never before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from topicloom.mesh.audit.broker_files import BrokerDirectory, ConfiguredBroker
from topicloom.mesh.audit.coverage import Wanted
from topicloom.mesh.audit.findings import Audit
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.plan.mesh_plan import MeshLayout
from topicloom.mesh.plan.names import NameRule
from topicloom.mesh.plan.request import ExportFigures, Request
from topicloom.mesh.run.relocate import Relocate

C = TypeVar("C")
Write = Callable[[Request, Path], object]  # fills a folder; returns what there is to tell
# Of export, for brokers that let users log in.
LOGIN_OPTIONS = frozenset({"hosts", "credentials", "tls", "tls_at", "filters", "literal", "open_", "seed"})


@dataclass(frozen=True, slots=True)
class Unable:
    """Stands for what a kind cannot do; `why` ends a sentence about it."""

    why: str


@dataclass(frozen=True, slots=True)
class AuditSupport(Generic[C]):
    """How configurations of a kind are read back and judged; C is what one file becomes.

    `read` takes a file and the folder that all lie in; `parts_of` are the files and folders that a file
    includes. `broker` takes the name, the hosts that somebody told, and the reading. `judge` takes who wants
    each topic and the manifest, where there are such. `no_link` ends the sentence that refuses a folder whose
    files have no link. `link` and `topic` are the words for what is counted; `called` are names of files and
    folders that say nothing about which broker it is.
    """

    read: Callable[[Path, Path], C]
    parts_of: Callable[[C], Iterable[Path]]
    broker: Callable[[str, frozenset[str], C], ConfiguredBroker[C]]
    has_links: Callable[[C], bool]
    judge: Callable[[BrokerDirectory[C], Mapping[str, Wanted] | None, Mesh | None], Audit]
    no_link: str
    link: str
    topic: str
    called: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSupport:
    """How an exported mesh is moved to this machine, started and proven.

    `adapter` names a class of this package as MODULE:CLASS; its module imports the client library. `kill`:
    why a broker cannot be killed to see the others heal. `baselines` write the meshes to compare with: as
    people build them by hand, for the same interest.
    `cpu_remark` follows the processor time of brokers.
    """

    adapter: str
    relocate: Relocate
    baselines: Mapping[str, Write] | Unable
    kill: Unable | None = None
    cpu_remark: str = ""


@dataclass(frozen=True, slots=True)
class BrokerKind:
    """One kind of broker.

    `options` are those that its export honours, `names` what topics are called there.
    `host_columns` are columns of a hosts file that have a meaning for this kind only. `layout` is how its
    files are made, for kinds that can be rolled out. `cannot` says why of options that it would be asked for.
    """

    name: str
    title: str
    description: str
    options: frozenset[str]
    write: Callable[[Request, Path], ExportFigures]
    names: NameRule
    audit: AuditSupport[Any] | Unable
    run: RunSupport | Unable
    host_columns: tuple[str, ...] = ()
    layout: MeshLayout | None = None
    cannot: Mapping[str, str] = field(default_factory=dict)
