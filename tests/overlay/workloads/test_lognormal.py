"""Heavy-tailed sizes: the law, what is refused, and that slices of nodes draw the same rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from topicloom.errors import UsageError
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.laws import Sizes

TEXT = "lognormal:70:1:20:2400"


def test_drawn_sizes_follow_the_law():
    sizes = Sizes.parse(TEXT).draw(7, 0, 100_000)
    shares = Sizes.parse(TEXT).shares()
    assert sizes.min() >= 20 and sizes.max() <= 2400
    assert sizes.mean() == pytest.approx(Sizes.parse(TEXT).mean, rel=0.02)
    for quantile in (0.25, 0.5, 0.75, 0.95):
        expected = 20 + int(np.searchsorted(np.cumsum(shares), quantile))
        assert np.quantile(sizes, quantile) == pytest.approx(expected, rel=0.03)


def test_the_logarithms_are_normal_where_nothing_is_cut_off():
    sizes = Sizes.parse("lognormal:500:0.4:1:20000").draw(3, 0, 50_000)
    logs = np.log(sizes)
    assert logs.mean() == pytest.approx(math.log(500), abs=0.01)
    assert logs.std() == pytest.approx(0.4, abs=0.01)


def test_slices_draw_what_the_whole_draws():
    sizes = Sizes.parse(TEXT)
    whole = sizes.draw(5, 0, 1000)
    assert np.concatenate((sizes.draw(5, 0, 300), sizes.draw(5, 300, 1000))).tolist() == whole.tolist()


def test_a_heavy_tailed_table():
    workload = workload_from_options(
        100, topics=500, subscriptions="lognormal:20:1:5:300", popularity="zipf:1"
    )
    found = generate_interest(workload).subscription_sizes()
    assert found.min() >= 5 and found.max() <= 300 and found.max() > 4 * np.median(found)
    assert str(workload.sizes) == "lognormal:20:1:5:300"


@pytest.mark.parametrize(
    "text",
    ["lognormal:", "lognormal:5", "lognormal:5:1:1", "lognormal:5:0:1:9", "lognormal:5:1:0:9",
     "lognormal:50:1:1:9", "lognormal:5:1:6:9", "lognormal:5:nan:1:9", "lognormal:5:1:x:9",
     "lognormal:5:99:1:9"],
)  # fmt: skip
def test_other_texts_are_refused(text):
    with pytest.raises(UsageError, match="lognormal"):
        Sizes.parse(text)


def test_more_topics_than_there_are_cannot_be_wanted():
    with pytest.raises(UsageError, match="distinct topics"):
        workload_from_options(10, topics=100, subscriptions=TEXT)
