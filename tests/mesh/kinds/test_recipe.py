"""A new kind of broker is one object and one line of the registry: everything else finds it there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path

import pytest

from mesh.export_cases import make_build
from topicloom.cli import main
from topicloom.errors import UsageError
from topicloom.mesh.audit.broker_files import ConfiguredBroker
from topicloom.mesh.audit.findings import Audit
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.jobs.export import ExportOptions, export_build
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.kinds import kind as kinds
from topicloom.mesh.kinds.kind import AuditSupport, BrokerKind, RunSupport, Unable
from topicloom.mesh.kinds.registry import KINDS, load_adapter
from topicloom.mesh.plan.link_plan import plan_trees
from topicloom.mesh.plan.mesh_plan import MeshLayout, MeshPlan, MeshShape, write_planned
from topicloom.mesh.plan.names import NameRule
from topicloom.mesh.plan.request import ExportFigures, Request
from topicloom.mesh.run.running_mesh import RunSettings
from topicloom.overlay.model.interest import Interest

NAMES = NameRule("toy", "[!]", 100, "toys are small")


def write_toys(request: Request, folder: Path) -> ExportFigures:
    """A file for each node with the nodes it dials and what the hosts file tells of it."""
    shape = MeshShape(NAMES, (("toy", 7000),), ".toy")
    return write_planned(request, folder, MeshLayout(lambda _: shape, plan_trees, render, "open"))


def render(plan: MeshPlan, request: Request) -> tuple[dict[str, str], list[str]]:
    files = {
        node.configs[0]: "".join(f"dial {link.acceptor}\n" for link in plan.dialled[node.name])
        + "".join(f"color {place.more['color']}\n" for place in (request.places.get(node.name),) if place)
        for node in plan.mesh.nodes
    }
    return files, []


TOY = BrokerKind(
    name=NAMES.kind,
    title="Toy",
    description="Toys: a box per node",
    options=frozenset({"hosts"}),
    write=write_toys,
    names=NAMES,
    audit=Unable("toys are never wrong"),
    run=Unable("toys stand still"),
    host_columns=("color",),
)
READ_BACK: AuditSupport[str] = AuditSupport(
    read=lambda path, root: path.read_text(),
    parts_of=lambda text: (),
    broker=lambda name, told, text: ConfiguredBroker(name, frozenset(), frozenset(), text),
    has_links=lambda text: "dial" in text,
    judge=lambda directory, wanted, mesh: Audit("toy", len(directory.brokers), 2, 1),
    no_link="string",
    link="string",
    topic="sort of toy",
    called=(),
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> BrokerKind:
    """The one line of the registry."""
    monkeypatch.setitem(KINDS, TOY.name, TOY)
    return TOY


@pytest.fixture
def folder(toy: BrokerKind, tmp_path: Path) -> Path:
    """An exported mesh of toys."""
    interest = Interest.from_pairs([("a", "x!"), ("b", "x!"), ("c", "x!"), ("c", "y")])
    make_build(tmp_path / "build", interest)
    (tmp_path / "hosts.csv").write_text("node,host,color\na,h1,red\nb,h2,blue\nc,h3,red\n")
    options = ExportOptions(hosts=tmp_path / "hosts.csv")
    found = export_build("toy", tmp_path / "build", out=tmp_path / "toys", options=options)
    assert found.files == ["a.toy", "b.toy", "c.toy", "manifest.json"]
    assert (found.kind, found.links, found.renamed) == ("toy", 2, {"x!": "x%21"})
    return tmp_path / "toys"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a command prints on a wide terminal."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: str) -> str:
        main.execute(list(arguments))
        return re.sub(r"[\s│]+", " ", capsys.readouterr().out)

    return run


def test_it_can_be_exported(folder: Path) -> None:
    assert "color blue" in (folder / "b.toy").read_text()
    assert sum(path.read_text().count("dial") for path in folder.glob("*.toy")) == 2


def test_the_command_line_offers_it(
    folder: Path, shown: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "gossipsub, toy." in shown("export", "--help")
    assert "for toy color" in shown("export", "--help")
    assert "toy: Toys: a box per node (--hosts)" in shown("export", "--list")
    assert "--toy" not in shown("verify", "--help") and "toy" not in shown("run", "--help")
    build, out = str(folder.parent / "build"), str(folder.parent / "more")
    assert main.execute(["export", "toy", build, "--out", out]) == 0
    told = capsys.readouterr().out
    assert "3 brokers, 2 links" in told and "next:" not in told
    assert main.execute(["export", "toys", build, "--out", out]) == 2
    assert "choose one of" in (told := capsys.readouterr().err) and "gossipsub, toy" in told
    assert main.execute(["export", "toy", build, "--out", out, "--backups", "1"]) == 2
    assert "--backups means nothing to toy; it takes --hosts" in capsys.readouterr().err


def test_what_it_cannot_do_is_refused_with_its_sentence(folder: Path) -> None:
    with pytest.raises(UsageError, match="cannot run toy: toys stand still; kinds that can be run are mosq"):
        run_folder("toy", folder, RunSettings())
    with pytest.raises(UsageError, match="cannot verify toy: toys are never wrong; kinds that can be"):
        audit_folder("toy", folder)
    with pytest.raises(UsageError, match="cannot verify toy: toys are never wrong"):
        audit_folder("nats", folder)


def test_one_that_can_be_read_back_is_an_option_of_verify(
    folder: Path, shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "toy", replace(TOY, audit=READ_BACK))
    assert "Judge the strings of Toy configurations" in shown("verify", "--help")
    assert "sound: 3 brokers, 2 strings, 1 sort of toy" in shown("verify", "--toy", str(folder))
    assert json.loads(shown("verify", "--toy", str(folder), "--json"))["sound"] is True


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_is_whole(name: str) -> None:
    kind = KINDS[name]
    assert kind.name == name and kind.names.kind == name
    assert import_module(f"{kinds.__package__}.{name}.kind"), "its folder has its name"
    assert kind.options <= {field.name for field in fields(ExportOptions)}
    for part in (kind.audit, kind.run):
        assert not isinstance(part, Unable) or part.why.rstrip(".") == part.why
    if isinstance(kind.run, RunSupport):
        assert ("backups" in kind.options) == (kind.run.kill is None), "links without backups do not heal"


@pytest.mark.slow
def test_client_libraries_load_with_a_target_only() -> None:
    """Neither the registry nor the command line imports them."""
    code = (
        "import sys, topicloom.cli.export, topicloom.cli.run, topicloom.cli.verify\n"
        "print([name for name in ('paho', 'nats', 'zenoh', 'psutil') if name in sys.modules])\n"
        "import topicloom.mesh.jobs.run, topicloom.mesh.jobs.run_compare\n"
        "print([name for name in ('paho', 'nats', 'zenoh') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["[]", "[]"]
    with pytest.raises(UsageError, match="cannot run carrier-pigeon; kinds that can be run are"):
        load_adapter("carrier-pigeon")
