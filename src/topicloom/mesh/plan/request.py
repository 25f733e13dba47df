"""What an exporter is given, and what it gives back; every kind of export shares these two values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.mesh.plan.credentials import Certificates, Login, certificates_of, make_password
from topicloom.mesh.plan.hosts import Place
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A build to export and the options that apply.

    `places` and `logins` go by node and are empty when the user gave none. `tls` is the folder of
    certificates, `tls_at` where it is on the machines of the brokers, if that is elsewhere. An edge may have
    up to `split` links in each direction so that more of them have backups. `earlier` is the folder of an
    export of the same kind that this one replaces. `seed` is for tests, which want the same keys each time.
    With `filters` topics with wildcards stand for all names they match, with `literal` they are names.
    `link_secrets` are the passwords of links that are known already. `queue` is how many messages wait for a
    link that is down, None if none do. `trees` says whether trees of topics have the fewest hops or spread
    the load. `notice` shows the user something that must not be missed.
    """

    interest: Interest
    overlay: Overlay
    places: Mapping[str, Place] = field(default_factory=dict)
    logins: Mapping[str, Login] = field(default_factory=dict)
    tls: Path | None = None
    tls_at: Path | None = None
    backups: int = 0
    split: int = 1
    earlier: Path | None = None
    seed: int | None = None
    filters: bool = False
    literal: bool = False
    queue: int | None = None
    trees: str = "spread"
    link_secrets: dict[str, str] = field(default_factory=dict)
    notice: Callable[[str], None] = lambda text: None
    progress: Progress = SILENT

    def certificates(self, stem: str) -> Certificates:
        """Return the files of a node, as its configuration names them."""
        assert self.tls is not None
        return certificates_of(self.tls_at or self.tls, stem)

    def secret_of(self, link: str) -> str:
        """Return the password of a link: made once, and kept from then on."""
        return self.link_secrets.setdefault(link, make_password(self.seed, link))


@dataclass(frozen=True, slots=True)
class ExportFigures:
    """What an export holds, for its summary."""

    links: int
    accounts: int = 0
    connections_per_node_max: int = 0
    backups: int = 0  # links that have one
    hops_max: int | None = None  # of a message between two subscribers; None: no mesh
    hops_overlay: int | None = None  # what the overlay would allow
    renamed: Mapping[str, str] = field(default_factory=dict)  # topics that brokers call otherwise, and how
    remarks: tuple[str, ...] = ()  # what does not hold of these files, and what would mend it
