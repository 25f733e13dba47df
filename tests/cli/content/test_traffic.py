"""`topicloom content traffic`: a whole problem out of raw tables, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from content_log import LOG
from content_log import SUBSCRIPTIONS as SUBS
from topicloom.content.model.problem_folder import read_problem
from topicloom.content.traffic.price_files import PriceFiles, read_prices
from topicloom.errors import InputError, UsageError
from topicloom.tables.spark.read import SparkReader

BROKERS = "broker,capacity\nB1,100\nB0,50\n"
REGIONS = "kind,id,region\nuser,a,eu\nuser,b,eu\nuser,c,us\nbroker,B0,eu\nbroker,B1,us\nuser,stranger,eu\n"
REGION_PRICES = "a,b,price\neu,eu,1\nus,eu,5\nus,us,2\n"
USERS = pa.array(["a", "b", "c"])


@pytest.fixture
def given(tmp_path):
    tables = {
        "log": LOG,
        "subs": SUBS,
        "brokers": BROKERS,
        "regions": REGIONS,
        "region_prices": REGION_PRICES,
        "access": "user,broker,price\n" + "".join(f"{u},{b},2\n" for u in "abc" for b in ("B0", "B1")),
        "core": "a,b,price\nB1,B0,3\n",
        "coordinates": "kind,id,x,y\nuser,a,0,0\nuser,b,3,4\nuser,c,-1,0\nbroker,B0,0,0\nbroker,B1,6,8\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def test_a_whole_problem_from_raw_tables(cli, given):
    out = given / "problem"
    code, shown, told = cli(
        "content", "traffic", "--log", given / "log.csv", "--subscriptions", given / "subs.csv",
        "--out", out, "--channels", "exact", "--brokers", given / "brokers.csv",
        "--regions", given / "regions.csv", "--region-prices", given / "region_prices.csv", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(shown)
    assert found == json.loads((out / "traffic.json").read_text())
    assert (found["format"], found["kind"], found["channels"], found["users"]) == (1, "content-traffic", 4, 3)
    assert found["false_positive_share"] == 0.0
    assert "1 row of" in told and "neither in the log nor in the subscriptions" in told
    problem = read_problem(out, lambda text: pytest.fail(text))
    assert problem.users.to_pylist() == ["a", "b", "c"]
    assert problem.access.tolist() == [[1, 5], [1, 5], [5, 2]]
    assert problem.core.tolist() == [[0, 5], [5, 0]]
    # a's message at 1 goes to b; c's at 3 to both; b's at 3 to a; nobody but b wants its own at 9.
    assert problem.demand == pytest.approx(np.array([0.1 + 0.2, 0.1 + 0.2, 0.1]))
    # Only the traffic is made anew; the prices stay.
    code, shown, _ = cli(
        "content", "traffic", "--log", given / "log.csv", "--subscriptions", given / "subs.csv",
        "--out", out, "--channels", "2",
    )  # fmt: skip
    assert code == 0
    assert "2 channels of 4" in shown and "false traffic: " in shown
    assert read_problem(out, lambda text: pytest.fail(text)).n_channels == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--channels", "0"], "--channels 0 is neither"),
        (["--channels", "some"], "--channels 'some' is neither"),
        (["--log", "no.csv"], "no such file or folder: no.csv"),
        (["--brokers", "brokers.csv", "--access", "access.csv"], "--access needs --core too"),
        (["--coordinates", "coordinates.csv"], "--coordinates needs --brokers too"),
    ],
)
def test_usage_is_judged_before_any_work(cli, given, monkeypatch, options, told):
    monkeypatch.chdir(given)
    required = {"--log": "log.csv", "--subscriptions": "subs.csv", "--out": "out"}
    missing = [word for pair in required.items() if pair[0] not in options for word in pair]
    code, shown, error = cli("content", "traffic", *missing, *options)
    assert (code, shown) == (2, "")
    assert told in error
    assert len(error.splitlines()) == 1


def prices(spark, given, *names, notice=lambda text: None):
    files = PriceFiles(**{name: str(given / f"{name}.csv") for name in ("brokers", *names)})
    files.check()
    return read_prices(SparkReader(spark), files, notice=notice).tables(USERS)


def test_prices_from_tables_and_coordinates(spark, given):
    tables = prices(spark, given, "access", "core")
    assert tables["brokers.parquet"].to_pydict() == {"broker": ["B0", "B1"], "capacity": [50.0, 100.0]}
    assert tables["access.parquet"].num_rows == 6
    assert tables["core.parquet"].to_pydict() == {"a": ["B0"], "b": ["B1"], "price": [3.0]}
    found = prices(spark, given, "coordinates")["coordinates.parquet"]
    assert found.column("id").to_pylist() == ["a", "b", "c", "B0", "B1"]
    assert found.column("x").to_pylist() == [0, 3, -1, 0, 6]


@pytest.mark.parametrize(
    ("table", "change", "told"),
    [
        ("brokers", ("B0,50", "B1,50"), "more than once"),
        ("brokers", ("B0,50", "B0,-1"), "the capacity '-1' is not a finite number of at least 0"),
        ("access", ("b,B1,2\n", ""), "no price between user b and broker B1"),
        (
            "access",
            ("b,B1,2", "b,B7,2"),
            "in the row 'b,B7,2' broker names no broker of `brokers`",
        ),
        ("access", ("b,B1,2", "b,B1,nan"), "the price 'nan' is not"),
        ("access", ("b,B1,2", "b,B0,7"), "the price differs from another row"),
        ("core", ("B1,B0,3\n", ""), "no price between broker B0 and broker B1"),
        ("core", ("B1,B0,3", "B1,B1,3"), "a broker has a price to itself"),
        ("coordinates", ("user,b,3,4\n", ""), "has no row of user b"),
        ("coordinates", ("user,b,3,4", "user,a,3,4"), "the same id stands there twice"),
        ("coordinates", ("user,b", "robot,b"), "the kind is neither user nor broker"),
        ("regions", ("broker,B1,us", "broker,B9,us"), "id names no broker of `brokers`"),
        (
            "region_prices",
            ("us,us,2\n", ""),
            "no price between regions us and us, which user c and broker B1",
        ),
    ],
)
def test_bad_brokers_and_prices_are_named(spark, given, table, change, told):
    path = given / f"{table}.csv"
    path.write_text(path.read_text().replace(*change))
    names = {"brokers": [], "access": ["access", "core"], "core": ["access", "core"]}
    names |= {name: ["regions", "region_prices"] for name in ("regions", "region_prices")}
    with pytest.raises(InputError) as caught:
        prices(spark, given, *names.get(table, [table]))
    assert told in str(caught.value)
    assert f"{table}.csv" in str(caught.value)


def test_prices_are_judged_before_the_log(cli, given):
    """A log takes minutes: a broker that does not exist must not be found out after them."""
    (given / "log.csv").write_text("publisher,time\na,1\n")
    (given / "core.csv").write_text("a,b,price\nB1,B7,3\n")
    options = [
        word for name in ("brokers", "access", "core") for word in (f"--{name}", given / f"{name}.csv")
    ]
    code, _, told = cli(
        "content", "traffic", "--log", given / "log.csv", "--subscriptions", given / "subs.csv",
        "--out", given / "problem", *options,
    )  # fmt: skip
    assert code == 2 and "core.csv: in the row 'B1,B7,3' b names no broker of --brokers" in told
    assert not (given / "problem").exists()


def test_prices_that_do_not_go_together_are_refused(given):
    both = {name: str(given / f"{name}.csv") for name in ("brokers", "access", "core", "coordinates")}
    with pytest.raises(UsageError, match="`access` and `coordinates` both give prices"):
        PriceFiles(**both).check()


def test_new_prices_take_the_place_of_those_of_the_other_kind(cli, given):
    out = given / "problem"
    out.mkdir()
    pq.write_table(pa.table({"old": [1]}), out / "access.parquet")
    pq.write_table(pa.table({"old": [1]}), out / "core.parquet")
    code, _, told = cli(
        "content", "traffic", "--log", given / "log.csv", "--subscriptions", given / "subs.csv",
        "--out", out, "--brokers", given / "brokers.csv", "--coordinates", given / "coordinates.csv",
    )  # fmt: skip
    assert code == 0, told
    assert read_problem(out, lambda text: pytest.fail(text)).access[1].tolist() == [5.0, 5.0]


def test_refused_rows_are_kept_and_foreign_folders_left_alone(cli, given):
    """A row that cannot be read must be there to look at; an --out that holds other things stays as it is."""
    (given / "log.csv").write_text(LOG + "c,11,lots\n")
    base = ("content", "traffic", "--log", given / "log.csv", "--subscriptions", given / "subs.csv")
    out = given / "problem"
    code, shown, told = cli(*base, "--out", out)
    assert code == 0 and "1 row was refused" in told
    assert "rejects.parquet" in shown
    rejects = pq.read_table(out / "rejects.parquet").to_pylist()
    assert [row["row"] for row in rejects] == ["c,11,lots"]
    (given / "log.csv").write_text(LOG.replace(",10,", ",1800000000000,"))
    code, shown, told = cli(*base, "--out", out)
    assert code == 0 and "milliseconds" in told
    assert not (out / "rejects.parquet").exists()  # those of the run before are not this run's
    (given / "mine").mkdir()
    (given / "mine" / "notes.txt").write_text("keep")
    code, _, told = cli(*base, "--out", given / "mine")
    assert code == 2 and "something else than a content problem" in told
    assert [path.name for path in (given / "mine").iterdir()] == ["notes.txt"]
