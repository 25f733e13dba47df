"""Cuts, freezes, crashes, churn and losses at once: no exception, whole afterwards, nothing lost for ever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from spidercast.simulator.worlds import departments, mixed, run

END = 34.0  # the last fault is over at 20 s


@examples(8)
@given(
    seed=st.integers(1, 10_000),
    grouped=st.booleans(),
    view=st.sampled_from(("1", "gossip")),
    cut=st.sampled_from(("", "8:20", "6:9,12:20:0.2")),
    freeze=st.sampled_from(("", "7:12:0.3", "10:20:0.1")),
    churn=st.sampled_from(((), ("life=40", "until=20"), ("life=40", "crash=1", "until=20"))),
    loss=st.sampled_from((0, 0.05)),
)
def test_topics_are_whole_after_any_mixture_of_faults(
    seed: int, grouped: bool, view: str, cut: str, freeze: str, churn: tuple[str, ...], loss: float
) -> None:
    words = [f"view={view}", f"loss={loss}", f"seconds={END}", "snapshot=17", "diameters=never", *churn]
    words += [f"{name}={value}" for name, value in (("cut", cut), ("freeze", freeze)) if value]
    interest = departments(24, 4) if grouped else mixed(30, seed % 7 + 1)
    outcome = run(interest, *words, "publish=3", seed=seed)
    last = outcome.snapshots[-1]
    assert last["topics_partitioned"] == 0, words
    if cut and not churn and not loss:
        assert outcome.healed_after is not None, words
        assert outcome.healed_after <= 5 + (5 if freeze else 0), words
    if not cut and not churn and not loss and not freeze:
        assert last["missing"] == 0, words
