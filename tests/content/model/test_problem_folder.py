"""Content problems on disk: what is written comes back to the last bit, and every fault is named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import content_problems
from content_tables import PLACES, PLAIN, silent, table, write
from drawing import examples
from topicloom.content.model.prices import Coordinates, metric_closure
from topicloom.content.model.problem import ContentProblem
from topicloom.content.model.problem_folder import (
    check_capacity,
    check_generated,
    read_problem,
    write_content_table,
    write_problem,
)
from topicloom.content.model.tables import ACCESS, BROKERS, CHANNELS, COORDINATES, CORE, RATES, WANTS
from topicloom.content.traffic.channels import ChannelGrid
from topicloom.errors import InputError


def channels_cut_at(ends: np.ndarray) -> pa.Table:
    return ChannelGrid(("content",), (ends[:-1],), (ends[1:],)).bounds()


def assert_same(one: ContentProblem, other: ContentProblem) -> None:
    for field in fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        same = np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine.equals(theirs)
        assert same, field.name


def test_the_plain_problem_is_read(tmp_path):
    problem = read_problem(write(tmp_path), silent)
    assert problem.users.to_pylist() == ["i", "j"] and problem.brokers.to_pylist() == ["x", "y"]
    assert problem.capacity.tolist() == [9, 5]
    assert problem.access.tolist() == [[1, 2], [3, 4]] and problem.core.tolist() == [[0, 7], [7, 0]]
    assert problem.rates.tolist() == [3, 0.5]  # nobody but j wants what j publishes
    assert problem.demand.tolist() == [3.5, 3.5]


def test_rows_in_any_order_other_number_types_and_extra_columns_change_nothing(tmp_path):
    shuffled = {name: rows[::-1] for name, rows in PLAIN.items()}
    shuffled[BROKERS] = pa.table({"capacity": [5, 9], "note": ["", ""], "broker": ["y", "x"]})
    shuffled[CORE] = [("y", "x", 7.0), ("x", "y", 7.0), ("x", "x", 0.0)]
    names = pa.array([row[0] for row in shuffled[RATES]]).dictionary_encode()
    rest = {"channel": pa.array([1, 1, 0], pa.uint8()), "rate": pa.array([0.25, 0.5, 3], pa.float32())}
    shuffled[RATES] = pa.table({"user": names, **rest})
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    assert_same(
        read_problem(write(tmp_path / "one"), silent),
        read_problem(write(tmp_path / "other", shuffled), silent),
    )


def test_a_table_may_be_a_folder_of_parts(tmp_path):
    write(tmp_path, {RATES: None})
    (tmp_path / RATES).mkdir()
    for part, row in enumerate(PLAIN[RATES]):
        pq.write_table(table(RATES, [row]), tmp_path / RATES / f"part-{part}.parquet")
    (tmp_path / RATES / "_SUCCESS").write_text("")
    assert read_problem(tmp_path, silent).rates.tolist() == [3, 0.5]


def test_coordinates_give_prices_by_distance_and_scale(tmp_path):
    changed = {ACCESS: None, CORE: None, COORDINATES: PLACES}
    problem = read_problem(write(tmp_path, changed), silent)
    assert problem.users.to_pylist() == ["i", "j"]
    assert problem.core.tolist() == [[0, np.hypot(3, 3)], [np.hypot(3, 3), 0]]
    assert problem.access.tolist() == [[2 * 1, 2 * 5], [np.hypot(3, 3), 6]]
    plain = table(COORDINATES, PLACES).drop_columns(["scale"])
    write_content_table(tmp_path, COORDINATES, plain)
    assert read_problem(tmp_path, silent).access.tolist() == [[1, 5], [np.hypot(3, 3), 6]]


@examples(40)
@given(problem=content_problems())
def test_what_is_written_comes_back(tmp_path_factory, problem):
    folder = tmp_path_factory.mktemp("content") / "problem"
    write_problem(folder, problem, channels_cut_at(np.linspace(0, 1, problem.n_channels + 1)))
    assert_same(read_problem(folder, lambda text: None), problem)


def test_written_coordinates_give_the_same_prices(tmp_path):
    points = np.array([[0.1, 0.7], [0.3, 0.2], [0.9, 0.4]])
    coordinates = Coordinates(points, points[:2] + 0.05, np.array([0.3, 3.0, 1.0]), 0.7)
    problem = ContentProblem.of(
        ["a", "b", "c"],
        ["b", "c"],
        [9, 9],
        *coordinates.prices(),
        1,
        rates=([0], [0], [1]),
        wants=([1], [0], [0]),
    )
    write_problem(tmp_path / "p", problem, channels_cut_at(np.array([0.0, 1.0])), coordinates=coordinates)
    assert not (tmp_path / "p" / ACCESS).exists()
    assert_same(read_problem(tmp_path / "p", silent), problem)


def test_a_user_and_a_broker_may_share_a_name(tmp_path):
    places = [*PLACES, ("user", "x", 1, 1, 1)]
    problem = read_problem(write(tmp_path, {ACCESS: None, CORE: None, COORDINATES: places}), silent)
    assert problem.users.to_pylist() == ["i", "j", "x"] and problem.access[2].tolist() == [1, np.hypot(2, 3)]


def test_one_broker_needs_no_core_price(tmp_path):
    alone = {BROKERS: [("x", 9.0)], ACCESS: [("i", "x", 1.0), ("j", "x", 3.0)], CORE: []}
    assert read_problem(write(tmp_path, alone), silent).core.tolist() == [[0]]


def test_a_problem_without_traffic_says_so(tmp_path):
    heard = []
    problem = read_problem(write(tmp_path, {RATES: [], WANTS: []}), heard.append)
    assert not problem.demand.any() and "nobody publishes" in heard[0]


def test_capacity_can_be_looked_at_later(tmp_path):
    write(tmp_path, {BROKERS: [("x", 1), ("y", 2)]})
    problem = read_problem(tmp_path, silent, need_capacity=False)
    with pytest.raises(InputError, match="below"):
        check_capacity(problem)


@pytest.mark.parametrize("content", [b"", b"PAR1 no table PAR1"])
def test_a_damaged_file_is_named(tmp_path, content):
    (write(tmp_path) / WANTS).write_bytes(content)
    with pytest.raises(InputError, match="wants.parquet cannot be read as Parquet"):
        read_problem(tmp_path, silent)


def test_a_folder_cut_off_while_being_written_is_not_whole(tmp_path):
    with pytest.raises(InputError, match="not a folder"):
        read_problem(tmp_path / "nowhere", silent)
    write(tmp_path, {CHANNELS: None})
    with pytest.raises(InputError, match="no whole content problem"):
        read_problem(tmp_path, silent)


def test_channels_are_written_last(tmp_path, monkeypatch):
    import topicloom.content.model.problem_folder as module

    written = []

    def watched(folder, name, rows):
        written.append(name)
        write_content_table(folder, name, rows)

    monkeypatch.setattr(module, "write_content_table", watched)
    bounds = channels_cut_at(np.linspace(0, 1, 3))
    write_problem(tmp_path / "copy", read_problem(write(tmp_path), silent), bounds)
    assert written[-1] == CHANNELS and set(written) == set(PLAIN)


def test_prices_that_break_the_triangle_inequality_are_closed_with_the_worst_example(tmp_path):
    names = "vwxyz"
    rows = [(a, b, 1.0) for a in names for b in names if a < b]
    rows[1], rows[3] = ("v", "x", 10.0), ("v", "z", 3.0)
    changed = {
        BROKERS: [(name, 9.0) for name in names],
        ACCESS: [(user, name, 1.0) for user in "ij" for name in names],
        CORE: rows,
    }
    heard = []
    problem = read_problem(write(tmp_path, changed), heard.append)
    assert problem.core.max() == 2
    assert len(heard) == 1 and "for 2 pairs of brokers: v to x costs 10 directly but 2 via w" in heard[0]


@given(st.lists(st.integers(0, 20), min_size=10, max_size=10))
def test_the_closure_is_the_cheapest_way_and_its_example_is_true(prices):
    core = np.zeros((5, 5))
    core[np.triu_indices(5, 1)] = prices
    core += core.T
    before = core.copy()
    closed, worst = metric_closure(core)
    cheapest = before.copy()
    for _ in range(4):  # ways of one more link each time
        for a in range(5):
            for b in range(5):
                cheapest[a, b] = min(cheapest[a, c] + before[c, b] for c in range(5))
    assert closed.tolist() == cheapest.tolist() and core.tolist() == before.tolist()
    broken = any(
        before[a, b] > before[a, c] + before[c, b] for a in range(5) for b in range(5) for c in range(5)
    )
    assert (worst is not None) == broken
    if worst is not None:
        a, b, c = worst
        assert len({a, b, c}) == 3
        assert before[a, b] > closed[a, b] == closed[a, c] + closed[c, b]
        assert before[a, b] - closed[a, b] == (before - closed).max()


def test_only_a_generated_problem_is_replaced(tmp_path, monkeypatch):
    problem = read_problem(write(tmp_path), silent)
    bounds = channels_cut_at(np.linspace(0, 1, 3))
    check_generated(tmp_path / "new")
    with pytest.raises(InputError, match="something else"):  # somebody's own tables
        check_generated(tmp_path)
    write_problem(tmp_path / "new", problem, bounds, generated=True)
    check_generated(tmp_path / "new")
    (tmp_path / "new" / "notes.txt").write_text("years")
    with pytest.raises(InputError, match="something else"):
        check_generated(tmp_path / "new")
    write_problem(tmp_path / "measured", problem, bounds)
    with pytest.raises(InputError, match="something else"):
        check_generated(tmp_path / "measured")
    with pytest.raises(InputError, match="is a file"):
        check_generated(tmp_path / BROKERS)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="current folder"):
        check_generated(Path("."))
