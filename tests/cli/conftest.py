"""What tests of commands share."""

from __future__ import annotations

import pytest

from topicloom.cli.main import execute


@pytest.fixture
def cli(spark, capsys):
    """Run a command in this process; gives exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
