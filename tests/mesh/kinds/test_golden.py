"""The text of a small export of each kind, kept under tests/golden/export: a change there is seen and meant.

To write them anew after a change that is meant: TOPICLOOM_GOLDEN=1 pytest tests/mesh/kinds/test_golden.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mesh.mesh_cases import CLASS_OF, FORESTS, ORDER, TREES, small_request
from topicloom.mesh.kinds.mosquitto import write as mosquitto
from topicloom.mesh.kinds.nats import write as nats
from topicloom.mesh.kinds.zenoh import write as zenoh
from topicloom.mesh.model.manifest import read_mesh, write_mesh
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.plan.mesh_plan import plan_mesh
from topicloom.version import __version__

GOLDEN = Path(__file__).parents[2] / "golden" / "export"
PLACES = {
    "a": Place("site-a.example"),
    "b": Place("10.0.0.2", 2000),
    "c": Place("2001:db8::c"),
    "d": Place("10.0.0.2"),
}
LOGINS = {node: Login(f"user-{node}", f'pass "{node}"') for node in "abcd"}


@pytest.mark.parametrize("kind", ["mosquitto", "nats", "zenoh"])
@pytest.mark.parametrize("case", ["loopback", "sites"])
def test_the_files_are_as_they_were(kind: str, case: str, tmp_path: Path) -> None:
    module = {"mosquitto": mosquitto, "nats": nats, "zenoh": zenoh}[kind]
    request = small_request() if case == "loopback" else small_request(places=PLACES, logins=LOGINS, seed=1)
    links = (TREES, ORDER) if kind == "mosquitto" else (FORESTS, ORDER, CLASS_OF)
    plan = plan_mesh(request, module.LAYOUT.shape(request), *links)
    files, secret = module.render(plan, request)
    write_mesh(tmp_path, plan.mesh, files, secret=secret)
    assert read_mesh(tmp_path) == plan.mesh, "what is written is what is read"
    found = {path.name: _neutral(path) for path in sorted(tmp_path.iterdir())}
    kept = GOLDEN / kind / case
    if "TOPICLOOM_GOLDEN" in os.environ:
        kept.mkdir(parents=True, exist_ok=True)
        for name, text in found.items():
            (kept / name).write_text(text, encoding="utf-8")
    assert found == {path.name: path.read_text(encoding="utf-8") for path in sorted(kept.iterdir())}
    for path in tmp_path.iterdir():
        assert path.name not in secret or path.stat().st_mode & 0o077 == 0, "others can read it"


def _neutral(path: Path) -> str:
    text = path.read_text(encoding="utf-8").replace(__version__, "VERSION")
    return re.sub(r'"digest": "[0-9a-f]{16}"', '"digest": "OF ALL THIS"', text)
