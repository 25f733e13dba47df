"""Through Spark Connect: a DataFrame is evaluated once, and measured where no disk is shared."""

from __future__ import annotations

import json

import pytest

import topicloom
from connect_process import SECONDS, SETTINGS, run_connect_program

pytestmark = [pytest.mark.spark, pytest.mark.alone]
PAIRS = [(f"n{i % 40}", f"t{(i * 7 + i // 40) % 11}") for i in range(160)]
LINKS = [(f"n{i}", f"n{i + 1}") for i in range(39)]


def test_a_dataframe_is_evaluated_once_and_needs_no_disk(tmp_path):
    seen = tmp_path / "seen"
    seen.mkdir()
    given = [SETTINGS, PAIRS, LINKS, str(seen), SECONDS]
    run_connect_program("connect_frames.py", given, tmp_path)
    found = json.loads((tmp_path / "seen.json").read_text())
    wants = topicloom.Interest.from_pairs(PAIRS)
    assert found["build"] == [1, 1, True]
    assert found["improve"] == [1, True, True]
    assert found["verify"] == [len(LINKS), 1]
    assert found["measure"] == [2, 1]
    assert found["inspect"] == [wants.n_subscriptions, 1]
    assert found["other"].startswith("`edges` takes a DataFrame of the same session as `df`")
