"""The wheel must carry everything: built here, installed elsewhere, run without the source tree."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import quick_spark

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return next(out.glob("*.whl"))


def test_the_wheel_holds_data_and_licence_but_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "topicloom/data/px4-uorb-pubsub.tsv.gz" in names
    assert "topicloom/tables/spark/log4j2.properties" in names
    assert "topicloom/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("test" in name or "__pycache__" in name for name in names)


def test_the_wheel_works_outside_the_source_tree(wheel, tmp_path):
    """A build through Spark workers and kernels, with the package found only where the wheel put it."""
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)],
        check=True,
        capture_output=True,
    )
    table = tmp_path / "table.csv"
    table.write_text("node,topic\na,x\nb,x\nb,y\nc,y\n")
    script = (
        "import sys, topicloom; sys.stderr.write(topicloom.__file__);"
        "from topicloom.cli.main import run;"
        f"run(['build', 'table.csv', '--out', 'out', '--algorithm', 'ring-pt', *{quick_spark.OPTIONS}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        # The editable install is found through a .pth file; the wheel's folder comes before it.
        env={"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert str(target) in done.stderr
    assert "proved" in done.stdout
