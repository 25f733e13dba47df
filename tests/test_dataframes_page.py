"""The tutorial about DataFrames is a notebook: its blocks run as they stand there, one after the other."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "dataframes.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_every_block_runs(spark, capsys):
    assert len(BLOCKS) >= 10
    names = {"spark": spark.newSession()}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for number, block in enumerate(BLOCKS):
            exec(compile(block, f"{PAGE.name}, block {number + 1}", "exec"), names)
    shown = capsys.readouterr().out
    assert "1200 40 " in shown and "the topic is missing" in shown
    assert any("1 row was refused in the DataFrame" in str(one.message) for one in told)
    assert names["broken"].topics_partitioned > 0
