"""`make wheel`: the wheel in an empty venv, as `pip install` and pipx give it to a user; no Makefile there.

A program of its own: packages take a minute to install, and the tests must stay quick.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = "node,topic\na,x\nb,x\nb,y\nc,y\n"


HELD = (
    "topicloom/data/px4-uorb-pubsub.tsv.gz",
    "topicloom/tables/spark/log4j2.properties",
    "topicloom/py.typed",
    "licenses/LICENSE",
)


def main(wheel: Path) -> None:
    check_content(zipfile.ZipFile(wheel).namelist())
    with tempfile.TemporaryDirectory(prefix="topicloom-wheel-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        say("install", run(python, "-m", "pip", "install", "--quiet", "--no-compile",
                           "-c", ROOT / "constraints.txt", wheel, cwd=folder))  # fmt: skip
        say("installed", size_of(folder / "venv"))
        topicloom = folder / "venv" / "bin" / "topicloom"
        (folder / "table.csv").write_text(TABLE)
        where = run(python, "-c", "import topicloom; print(topicloom.__file__)", cwd=folder)
        assert where.startswith(str(folder)), where
        for engine in ("local", "auto"):  # without Spark, and through it
            build = ("build", "table.csv", "--algorithm", "ring-pt", "--engine", engine, "--out", engine)
            summary = json.loads(run(topicloom, *build, "--json", "--quiet", cwd=folder))
            assert summary["topic_connected"] is True and summary["edges"] == 2, summary
            say(f"build --engine {engine}", "proved")
        verdict = json.loads(run(topicloom, "verify", "auto", "auto", "--json", "--quiet", cwd=folder))
        assert verdict["topic_connected"] is True, verdict
        say("verify", "proved")


def check_content(names: list[str]) -> None:
    """The wheel carries data and the licence, and neither tests nor compiled modules."""
    for held in HELD:
        assert any(name.endswith(held) for name in names), held
    strangers = [name for name in names if "test" in name or "__pycache__" in name]
    assert not strangers, strangers


def run(*command: object, cwd: Path) -> str:
    """Run a command that must succeed, without anything of this checkout; what it prints."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=kept, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[:3]}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def size_of(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    packages = len(list(folder.glob("lib/*/site-packages/*.dist-info")))
    return f"{packages} packages, {sum(path.stat().st_size for path in files) / 1e6:,.0f} MB"


def say(what: str, answer: str) -> None:
    print(f"wheel: {what}{': ' if answer else ''}{answer}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
