"""`topicloom run --compare`: the figures of meshes whose links and messages can be counted by hand."""

from __future__ import annotations

import json

import pytest

from brokers_present import needs_mosquitto
from hand_mesh import INTEREST, LINKS, write_hand_mesh
from topicloom.cli.main import execute
from topicloom.mesh.kinds.mosquitto.baselines import write_full_mesh, write_star
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.plan.request import Request
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.model.interest import Interest

MESSAGES = 2
QUICK = ["--messages", str(MESSAGES), "--settle", "0.2"]


@pytest.fixture
def folder(tmp_path):
    write_hand_mesh(tmp_path / "mesh", INTEREST, LINKS)
    return tmp_path / "mesh"


@needs_mosquitto
def test_each_design_delivers_all_and_costs_what_can_be_counted(folder, capsys):
    """x, y and z have three subscribers each, `alone` has one; every pair of nodes shares a topic."""
    assert execute(["run", "mosquitto", str(folder), "--compare", "--json", *QUICK]) == 0
    rows = {row["design"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert list(rows) == ["this mesh", "ring per topic", "star", "full mesh"]
    for row in rows.values():
        assert (row["delivered"], row["expected"], row["duplicates"]) == (10 * MESSAGES, 10 * MESSAGES, 0)
    links = {name: (row["nodes"], row["links"], row["hops_max"]) for name, row in rows.items()}
    assert links["this mesh"] == (4, 3, 2)
    assert links["star"] == (5, 4, 2)
    assert links["full mesh"] == (4, 6, 1)
    between = {name: row["messages_between_brokers"] for name, row in rows.items()}
    assert between["this mesh"] == between["ring per topic"] == between["full mesh"] == 6 * MESSAGES
    assert between["star"] == 10 * MESSAGES, "each message goes to the hub, and on to all other subscribers"
    strays = {name: row["strays"] for name, row in rows.items()}
    assert strays == {"this mesh": 0, "ring per topic": 0, "star": 4 * MESSAGES, "full mesh": 0}


@needs_mosquitto
def test_it_fails_if_the_exported_mesh_is_not_exact(folder, capsys):
    conf = folder / "c.conf"
    conf.write_text(conf.read_text().partition("connection")[0])
    assert execute(["run", "mosquitto", str(folder), "--compare", *QUICK]) == 1
    out = capsys.readouterr().out
    assert "this mesh: " in out and "deliveries missing" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nats", "--compare"], "--compare runs mosquitto only"),
        (["mosquitto", "--compare", "--kill", "a"], "--kill"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder, capsys, arguments, words):
    kind, *options = arguments
    assert execute(["run", kind, str(folder), *options]) == 2
    assert words in capsys.readouterr().err


def test_a_rival_takes_no_name_that_is_there(tmp_path):
    """A node called hub stays itself, and topics below from/ do not mix with what comes from others."""
    interest = Interest.from_pairs([("hub", "from/x"), ("b", "from/x")])
    request = Request(interest, run_builder("ring-pt", interest).overlay)
    star, full = tmp_path / "star", tmp_path / "full"
    for folder, write in ((star, write_star), (full, write_full_mesh)):
        folder.mkdir()
        write(request, folder)
    assert read_mesh(star).start_order == ("hub-", "b", "hub")
    assert read_mesh(star).topics[0].subscribers == ("b", "hub")
    assert read_mesh(full).links == (MeshLink("hub~b", "hub", "b", ("from/x",)),)
    assert 'topic from/x out 1 "" from-/hub/' in (full / "hub.conf").read_text()
