"""Damaged results: whatever is wrong in a folder, it is told in one sentence, and no page is left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from report_pages import small_interest, write_build, write_course
from topicloom.cli.main import execute
from topicloom.errors import TopicloomError
from topicloom.overlay.graphs import layout
from topicloom.report import write_report

pytestmark = pytest.mark.slow
KINDS = ("build", "simulation", "mesh", "plan", "rounds")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one result of every kind."""
    folder = tmp_path_factory.mktemp("results")
    build = write_build(folder / "build", small_interest())
    write_course(folder / "simulation", small_interest(), "cut=2:3", "seconds=6", "snapshot=2", "publish=1")
    problem = str(folder / "problem")
    sizes = ["--users", "12", "--brokers", "3", "--channels", "4"]
    for command in (
        ["export", "mosquitto", str(build), "--out", str(folder / "mesh")],
        ["content", "generate", problem, *sizes],
        ["content", "plan", problem, "--algorithm", "greedy-packing", "--out", str(folder / "plan")],
        ["content", "simulate", problem, "--out", str(folder / "rounds")],
    ):
        assert execute([*command, "--quiet"]) == 0
    return folder


def damages(folder: Path) -> Iterator[str]:
    """Damage a folder in one way after the other; each time the folder is as it was but for that."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".json", ".parquet"):
            continue
        name, whole = path.relative_to(folder), path.read_bytes()
        path.unlink()
        yield f"{name} is gone"
        path.write_bytes(whole[: len(whole) // 2])
        yield f"{name} is cut short"
        if path.suffix == ".json":
            values = json.loads(whole)
            for key in values:
                for wrong in ({}, {key: [1]}):
                    kept = {one: value for one, value in values.items() if one != key}
                    path.write_text(json.dumps({**kept, **wrong}))
                    yield f"{name}: {key} is {wrong.get(key, 'gone')}"
        else:
            table = pq.read_table(pa.BufferReader(whole))
            for place, column in enumerate(table.column_names):
                pq.write_table(table.remove_column(place), path)
                yield f"{name}: {column} is gone"
                pq.write_table(table.set_column(place, column, pa.nulls(len(table))), path)
                yield f"{name}: {column} is empty"
        path.write_bytes(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_folder_is_told_in_one_sentence(results, kind, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(layout, "ROUNDS", 1)
    folder, out = tmp_path / kind, tmp_path / "page.html"
    shutil.copytree(results / kind, folder)
    write_report([folder], out)
    told = []
    for damage in damages(folder):
        out.unlink(missing_ok=True)
        try:
            write_report([folder], out)
        except TopicloomError as error:
            told.append((damage, error.exit_code, str(error).count("\n"), out.exists()))
        except Exception as error:
            pytest.fail(f"{damage}: {error!r}")
    assert len(told) > 5
    assert [one for one in told if one[1:] != (2, 0, False)] == []
