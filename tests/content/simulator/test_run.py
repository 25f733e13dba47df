"""Brokers that migrate users, simulated: costs fall to rest, every delivery is made, a seed fixes all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import content_problems
from drawing import examples
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.user_records import UserRecords
from topicloom.content.brokers.wants_and_rates import joined
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.local_search import plan_local_search
from topicloom.content.planners.placement import plan_random
from topicloom.content.simulator.population import with_traffic
from topicloom.content.simulator.run import ContentOutcome, simulate_content
from topicloom.content.simulator.scenario import ContentScenario
from topicloom.content.workload import generate_content
from topicloom.errors import UsageError


@pytest.fixture(scope="module")
def problem() -> ContentProblem:
    return generate_content(60, 4, 12, ratio=0.5, width=0.2, seed=3).problem


def run(problem: ContentProblem, *words: str, seed: int = 0) -> ContentOutcome:
    start = plan_random(problem, seed=seed).assignment
    return simulate_content(problem, start, ContentScenario.of(["deliveries=300", *words], seed=seed))


def test_costs_fall_until_nobody_moves(problem):
    outcome = run(problem)
    costs = [row["cost"] for row in outcome.rows]
    central = measure_cost(problem, plan_local_search(problem, work=0).assignment).total
    assert outcome.settled and costs[-1] < 0.8 * costs[0]
    assert costs[-1] <= 1.25 * central, "a planner that knows everything is only a little better"
    assert costs[-1] == pytest.approx(measure_cost(problem, outcome.assignment).total)
    assert outcome.rows[-1]["overflow"] == 0
    assert outcome.migrations == sum(row["migrations"] for row in outcome.rows) > 10
    assert outcome.messages["Connect"] == outcome.migrations, "both are of the same time"
    # Seven letters and their receipts for the move itself; the rest tells the other brokers.
    assert 14 <= outcome.control / outcome.migrations < 60


def test_every_event_reaches_whom_it_should_while_users_move(problem):
    counters = run(problem).counters
    assert counters.published > 30 and counters.expected > 1_000
    assert (counters.delivered, counters.missing, counters.duplicates) == (counters.expected, 0, 0)


def test_the_tally_notices_what_is_not_delivered(problem, monkeypatch):
    real = BrokerState.deliver

    def forgets(state, record, event, now):
        if event.point[0] < 6:
            real(state, record, event, now)

    monkeypatch.setattr(BrokerState, "deliver", forgets)
    outcome = run(problem, "rounds=4")
    assert outcome.counters.missing > 0
    assert outcome.counters.missing + outcome.counters.delivered == outcome.counters.expected


def test_a_seed_fixes_the_whole_run(problem):
    one, same, other = (run(problem, "rounds=5", "drift=0.1", seed=seed) for seed in (1, 1, 2))
    assert one.rows == same.rows and one.counters.messages == same.counters.messages
    assert one.rows != other.rows


def test_drifting_users_are_followed(problem):
    still, moving = run(problem, "settle=0", "rounds=12"), run(problem, "drift=0.1", "settle=0", "rounds=12")
    assert moving.counters.missing == moving.counters.duplicates == 0
    assert moving.migrations > still.migrations
    assert moving.rows[-1]["cost"] == pytest.approx(measure_cost(moving.problem, moving.assignment).total)
    assert moving.rows[-1]["cost"] < 0.8 * moving.rows[0]["cost"], "they are followed to where they are cheap"
    assert sorted(moving.problem.demand) == pytest.approx(sorted(problem.demand)), "the demand is the same"


def test_brokers_that_count_find_nearly_the_same_as_if_they_were_told(problem):
    told = run(problem, "events=false")
    counted = run(problem, "rates=counted", "deliveries=1500")
    assert counted.rows[-1]["cost"] <= 1.1 * told.rows[-1]["cost"]
    assert told.counters.published == 0 and counted.counters.missing == 0


def test_users_are_not_drawn_back_by_their_own_shadow(problem, monkeypatch):
    """A broker that redirects for a user still gets its events, but must not count as wanting them."""
    words = ("round=2", "stay=0", "events=false", "rounds=40")
    outcome = run(problem, *words)
    assert outcome.settled

    def with_shadows(users):
        return tuple(joined(run for record in users.records.values() for run in record.ranges))

    monkeypatch.setattr(UserRecords, "ranges", with_shadows)
    misled = run(problem, *words)
    assert misled.migrations > 1.5 * outcome.migrations and not misled.settled


def test_who_declines_stays(problem):
    outcome = run(problem, "decline=1", "rounds=4", "settle=0", "events=false")
    assert outcome.migrations == 0
    assert np.array_equal(outcome.assignment, plan_random(problem, seed=0).assignment)


@examples(12)
@given(content_problems(max_users=6, max_brokers=4), st.integers(0, 5))
def test_any_problem_can_be_simulated(drawn, seed):
    """Idle users, channels that nobody wants, one broker, full brokers."""
    outcome = run(drawn, "rounds=5", "deliveries=40", seed=seed)
    assert outcome.counters.missing == outcome.counters.duplicates == 0
    assert len(outcome.assignment) == drawn.n_users
    assert outcome.rows[-1]["cost"] == pytest.approx(measure_cost(drawn, outcome.assignment).total)


@examples(20)
@given(content_problems(), st.randoms(use_true_random=False))
def test_exchanged_traffic_is_the_same_problem_under_other_names(drawn, random):
    order = list(range(drawn.n_users))
    random.shuffle(order)
    changed = with_traffic(drawn, np.array(order))
    assert changed.demand.tolist() == pytest.approx(drawn.demand[order].tolist())
    assert changed.channel_rate.tolist() == pytest.approx(drawn.channel_rate.tolist())


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["round=0"], "round=0"),
        (["rates=counted", "events=false"], "nothing to count"),
        (["detector=0.5"], "`detector=0.5`"),
        (["latency=never"], "latency=never"),
        (["speed=9"], "does not know 'speed'"),
    ],
)
def test_what_cannot_be_is_refused(words, what):
    with pytest.raises(UsageError if "latency" not in what else Exception, match=what):
        ContentScenario.of(words)


def test_a_file_of_latencies_needs_names_that_differ(tmp_path):
    twins = ContentProblem.of(
        ["a", "b"], ["b"], [9.0], [[1.0], [2.0]], [[0.0]], 1, rates=([0], [0], [3.0]), wants=([1], [0], [0])
    )
    path = tmp_path / "latency.csv"
    path.write_text("u,v,seconds\n*,*,0.01\n")
    with pytest.raises(UsageError, match="both called 'b'"):
        run(twins, f"latency={path}", "rounds=1")
    run(twins, "latency=0.01", "rounds=1")


def test_latencies_above_the_promised_delay_are_refused(problem):
    with pytest.raises(UsageError, match="raise max_delay"):
        run(problem, "latency=0.2:0.3", "rounds=1")
    with pytest.raises(UsageError, match="a round must be longer"):
        run(problem, "round=1", "drift=0.5", "rounds=1")
