"""Logs on Spark against the slow version: the same rates, wants and false traffic from whatever files."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naive.traffic import naive_traffic
from topicloom.base.summaries import plain
from topicloom.content.jobs import traffic_folder
from topicloom.content.jobs.traffic import TrafficTask, make_traffic
from topicloom.content.traffic import log_passes, publication_log
from topicloom.content.traffic.channels import ChannelGrid
from topicloom.content.traffic.publication_log import log_columns
from topicloom.errors import InputError, UsageError
from topicloom.tables.reader import read_all
from topicloom.tables.records import Field
from topicloom.tables.source import records_source
from topicloom.tables.spark.read import SparkReader, read_table
from topicloom.tables.spark.spark_choice import SparkChoice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUBS_NAMES = ("user", "subscription", "attribute", "low", "high")


def some_log(seed: int, attributes: list[str], rows: int = 60) -> list[Any]:
    rng = random.Random(seed)
    people = ["p", "ü,1", 'q"q', "a"]
    return [
        (rng.choice(people), rng.randint(0, 400) / 8, {name: rng.randint(-8, 56) / 4 for name in attributes})
        for _ in range(rows)
    ]


def some_subscriptions(seed: int, attributes: list[str], rows: int = 14) -> list[Any]:
    rng = random.Random(seed)
    found = []
    for _ in range(rows):
        low, high = sorted((rng.randint(0, 12), rng.randint(0, 12)))
        found.append(
            (rng.choice("abcde"), rng.choice("123"), rng.choice(attributes), float(low), float(high))
        )
    return [*found, ("a", "9", attributes[0], 2.0, 7.0), ("z", "1", attributes[-1], 3.0, 3.0)]


def log_table(log: list[Any]) -> pa.Table:
    columns: dict[str, Any] = {"publisher": [row[0] for row in log], "time": [row[1] for row in log]}
    return pa.table(columns | {name: [row[2][name] for row in log] for name in log[0][2]})


def as_parquet(table: pa.Table, path: Path) -> str:
    path.mkdir()
    for part, start in enumerate(range(0, table.num_rows, 25)):
        pq.write_table(table.slice(start, 25), path / f"{part}.parquet")
    return str(path)


def as_csv(table: pa.Table, path: Path) -> str:
    def field(value: Any) -> str:
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text

    # Another order of columns and one that nobody asked for.
    names = [*reversed(table.column_names), "remark"]
    lines = [",".join(names)]
    lines += [",".join(field(row.get(name, "-")) for name in names) for row in table.to_pylist()]
    target = path.with_suffix(".csv.gz")
    target.write_bytes(gzip.compress("\n".join(lines).encode()))
    return str(target)


def as_json(table: pa.Table, path: Path) -> str:
    target = path.with_suffix(".jsonl")
    target.write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    return str(target)


def subs_file(subscriptions: list[Any], folder: Path) -> str:
    lines = [",".join(SUBS_NAMES), *(",".join(map(str, row)) for row in subscriptions)]
    (folder / "subs.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "subs.csv")


def task(log: str, subscriptions: str, out: Path, **choices: Any) -> TrafficTask:
    return TrafficTask(log, subscriptions, out, SparkChoice(), **choices)


def made(wanted: TrafficTask) -> dict[str, Any]:
    """What the command prints."""
    summary: dict[str, Any] = plain(make_traffic(wanted))
    return summary


def written(out: Path) -> dict[str, Any]:
    """What stands in the folder, in the form of the slow version."""
    rates, wants, channels = (
        pq.read_table(out / f"{name}.parquet") for name in ("rates", "wants", "channels")
    )
    taken: dict[str, set[int]] = {}
    for row in wants.to_pylist():
        taken.setdefault(row["user"], set()).update(range(row["first_channel"], row["last_channel"] + 1))
    rows = rates.to_pylist()
    return {
        "channels": [
            {end["attribute"]: (end["low"], end["high"]) for end in row["bounds"]}
            for row in channels.to_pylist()
        ],
        "rates": {(row["user"], row["channel"]): row["rate"] for row in rows if row["rate"]},
        "wants": taken,
        "users": {row["user"] for row in rows} | set(taken),
    }


@pytest.mark.parametrize(
    ("seed", "attributes", "limit", "writer"),
    [
        (1, ["x"], 4, as_parquet),
        (2, ["x"], None, as_csv),
        (3, ["x", "y"], 9, as_json),
        (4, ["x", "y"], 1000, as_parquet),
    ],
)
def test_folder_holds_what_the_definition_says(
    spark: SparkSession,
    tmp_path: Path,
    seed: int,
    attributes: list[str],
    limit: int | None,
    writer: Callable[[pa.Table, Path], str],
) -> None:
    log, subscriptions = some_log(seed, attributes), some_subscriptions(seed, attributes)
    expected = naive_traffic(log, subscriptions, limit)
    path = writer(log_table(log), tmp_path / "log")
    found = made(task(path, subs_file(subscriptions, tmp_path), tmp_path / "out", channels=limit))
    folder = written(tmp_path / "out")
    for name in ("channels", "wants", "users"):
        assert folder[name] == expected[name]
    assert folder["rates"] == pytest.approx(expected["rates"])
    for name in ("false_positive_share", "dropped", "channels_before"):
        assert found[name] == pytest.approx(expected[name])
    assert found["false_positive_exact"]
    assert found["users"] == len(expected["users"])
    assert found == json.loads((tmp_path / "out" / "traffic.json").read_text())


def test_order_and_parts_of_the_log_do_not_matter(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fewer than there are, so that a sample is taken, which must be the same one.
    monkeypatch.setattr(publication_log, "SAMPLE_ROWS", 20)
    log, subscriptions = some_log(5, ["x", "y"]), some_subscriptions(5, ["x", "y"])
    subs = subs_file(subscriptions, tmp_path)
    mixed = random.Random(0).sample(log, len(log))
    one = made(task(as_parquet(log_table(log), tmp_path / "a"), subs, tmp_path / "1", channels=6))
    other = made(task(as_json(log_table(mixed), tmp_path / "b"), subs, tmp_path / "2", channels=6))
    one.pop("seconds"), other.pop("seconds")
    assert one == other
    assert not one["false_positive_exact"] and 0 < one["false_positive_messages"] < 60
    for name in ("rates", "wants", "channels"):
        tables = [pq.read_table(tmp_path / folder / f"{name}.parquet") for folder in "12"]
        assert tables[0].equals(tables[1])


def test_moments_may_be_written_in_three_ways(spark: SparkSession, tmp_path: Path) -> None:
    seconds = [0.0, 1.5, 40.0]
    words = ["1970-01-01T00:00:00Z", "1970-01-01 01:00:01.5+01:00", "1970-01-01T00:00:40Z"]
    times = {
        "number": pa.array(seconds),
        "stamp": pa.array([int(s * 1e6) for s in seconds], pa.timestamp("us")),
        "text": pa.array(words),
    }
    for name, column in times.items():
        table = pa.table({"publisher": pa.array([7, 7, 8]), "time": column, "x": [1.0, 2.0, 3.0]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    (tmp_path / "log.csv").write_text(LOG + "".join(f"7,{word},1\n" for word in words))
    for path in sorted(tmp_path.iterdir()):
        raw = read_table(spark, records_source(str(path), "log", log_columns(["x"], "subs")))
        assert sorted(row["time"] for row in raw.rows.collect()) == seconds, path
        assert {row["publisher"] for row in raw.rows.collect()} <= {"7", "8"}
        raw.release()


def test_names_of_attributes_are_opaque(spark: SparkSession, tmp_path: Path) -> None:
    name = "a.b `c`"
    log = some_log(8, [name], 10)
    subscriptions = [("a", "1", name, 0.0, 9.0), ("b", "1", name, 4.0, 12.0)]
    for writer in (as_csv, as_parquet):
        path = writer(log_table(log), tmp_path / "log")
        make_traffic(task(path, subs_file(subscriptions, tmp_path), tmp_path / writer.__name__))
        expected = naive_traffic(log, subscriptions, 1000)
        assert written(tmp_path / writer.__name__)["rates"] == pytest.approx(expected["rates"])


SUBS = "user,subscription,attribute,low,high\n"
LOG = "publisher,time,x\n"


@pytest.mark.parametrize(
    ("log", "subs", "told"),
    [
        (LOG + "p,0,1\np,9,1\n", SUBS + "a,1,x,0,5\nb,s7,x,7,3\n", "the row 'b,s7,x,7,3' low is above high"),
        (LOG + "p,0,1\n", SUBS + "a,1,x,nan,5\n", "the low 'nan' is not a number"),
        (LOG + "p,0,1\n", SUBS + "a,1,y,0,5\n", "no column 'y', an attribute in"),
        (LOG + "p,0,1\n", SUBS + "a,1,time,0,5\n", "no attribute can be called 'time'"),
        (LOG + "p,0,1\n", SUBS + "a,1,x,5,5\n", "nobody wants anything"),
        (LOG + "p,0,1\n", "user,subscription,attribute,low\na,1,x,0\n", "has no column 'high'"),
        (LOG + "p,4,1\nq,4,2\n", SUBS + "a,1,x,0,5\n", "all 2 messages"),
        (LOG + "p,4,one\n", SUBS + "a,1,x,0,5\n", "the x 'one' is not a finite number"),
        (LOG, SUBS + "a,1,x,0,5\n", "holds no message"),
        ("", SUBS + "a,1,x,0,5\n", "is empty"),
    ],
    ids=[
        "low above high", "NaN", "unknown attribute", "own column", "empty ranges", "no column", "one moment",
        "no number", "no message", "no log",
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(
    spark: SparkSession, tmp_path: Path, log: str, subs: str, told: str
) -> None:
    (tmp_path / "log.csv").write_text(log)
    (tmp_path / "subs.csv").write_text(subs)
    with pytest.raises(InputError) as caught:
        make_traffic(task(str(tmp_path / "log.csv"), str(tmp_path / "subs.csv"), tmp_path / "out"))
    assert told in str(caught.value)
    assert ".csv" in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_bad_columns_of_parquet_are_named(spark: SparkSession, tmp_path: Path) -> None:
    subs = subs_file([("a", "1", "x", 0.0, 9.0)], tmp_path)
    good = {"publisher": ["p", "q"], "time": [0.0, 1.0], "x": [1.0, 2.0]}
    for name, column, told in (
        ("x", [[1], [2]], "column 'x' of"),
        ("publisher", [1.5, 2.5], "identifiers are strings"),
        ("time", [True, False], "column 'time' of"),
    ):
        pq.write_table(pa.table(good | {name: column}), tmp_path / "log.parquet")
        with pytest.raises(InputError, match=told):
            make_traffic(task(str(tmp_path / "log.parquet"), subs, tmp_path / "out"))


def test_refused_rows_are_counted_and_strict_names_the_first(spark: SparkSession, tmp_path: Path) -> None:
    subs = subs_file([("a", "1", "x", 0.0, 9.0)], tmp_path)
    table = pa.table(
        {"publisher": ["p", "", "p", "p"], "time": [0.0, 1.0, None, 4.0], "x": [1.0, 2.0, 3.0, float("nan")]}
    )
    pq.write_table(pa.concat_tables([table, table.slice(0, 1).set_column(1, "time", pa.array([5.0]))]),
                   tmp_path / "log.parquet")  # fmt: skip
    (tmp_path / "log.csv").write_text(LOG + "p,0,1\n,1,2\np,,3\np,4,nan\np,5,1\n")
    for name in ("log.parquet", "log.csv"):
        notices: list[str] = []
        found = made(task(str(tmp_path / name), subs, tmp_path / "out", notice=notices.append))
        assert (found["log_rows"], found["rejected"], found["span_seconds"]) == (2, 3, 5.0)
        assert any("3 rows were refused" in text for text in notices)
    with pytest.raises(InputError, match="3 rows were refused"):
        make_traffic(task(str(tmp_path / "log.csv"), subs, tmp_path / "out", strict=True))


def test_a_mended_table_is_read_anew(spark: SparkSession, tmp_path: Path) -> None:
    """What Spark keeps of a table that was refused must not stand in for the same file later on."""
    path = tmp_path / "subs.csv"
    source = records_source(str(path), "subscriptions", [Field("user"), Field("low", "bound")])
    path.write_text("user,low\na,1\nb,nan\n")
    with pytest.raises(InputError, match="1 row was refused"):
        read_all(SparkReader(spark), source)
    path.write_text("user,low\na,1\nb,2\n")
    assert read_all(SparkReader(spark), source).num_rows == 2


def test_the_sample_of_a_log_that_repeats_itself_is_neither_empty_nor_all_of_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal messages have equal hashes: without care the false traffic would be judged by none, or by all."""
    monkeypatch.setattr(publication_log, "SAMPLE_ROWS", 50)
    boxes = [("a", "1", "x", 0.0, 4.0), ("b", "1", "x", 0.0, 2.0), ("b", "1", "y", 0.0, 2.0),
             ("c", "1", "y", 1.0, 4.0), ("d", "1", "x", 1.0, 3.0)]  # fmt: skip
    log = [("p", 0.0, {"x": 1.5, "y": 0.5})] * 300 + [("p", 1.0, {"x": 3.5, "y": 3.5})] * 700
    path, subs = as_json(log_table(log), tmp_path / "log"), subs_file(boxes, tmp_path)
    found = made(task(path, subs, tmp_path / "out", channels=2))
    expected = naive_traffic(log, boxes, 2)["false_positive_share"]
    assert expected > 0 and found["false_positive_share"] == pytest.approx(expected, rel=0.1)
    assert 25 <= found["false_positive_messages"] <= 100 and not found["false_positive_exact"]


def test_exact_channels_are_for_one_attribute(spark: SparkSession, tmp_path: Path) -> None:
    subs = subs_file(some_subscriptions(1, ["x", "y"]), tmp_path)
    (tmp_path / "log.csv").write_text("publisher,time,x,y\np,0,1,1\n")
    with pytest.raises(UsageError, match="`channels=exact` is for one attribute"):
        make_traffic(task(str(tmp_path / "log.csv"), subs, tmp_path / "out", channels=None))


def test_a_folder_that_was_cut_off_is_not_taken_for_whole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subs = subs_file([("a", "1", "x", 0.0, 9.0)], tmp_path)
    (tmp_path / "log.csv").write_text(LOG + "p,0,1\np,5,1\n")
    wanted = task(str(tmp_path / "log.csv"), subs, tmp_path / "out")
    (tmp_path / "out").mkdir()
    for name in ("channels.parquet", "traffic.json", "rates.parquet", "brokers.parquet"):
        (tmp_path / "out" / name).write_bytes(b"mine")

    def cut(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(traffic_folder, "write_json", cut)
    with pytest.raises(KeyboardInterrupt):
        make_traffic(wanted)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "brokers.parquet", "rates.parquet", "wants.parquet",
    }  # fmt: skip
    monkeypatch.undo()
    make_traffic(wanted)
    assert (tmp_path / "out" / "brokers.parquet").read_bytes() == b"mine"
    assert (tmp_path / "out" / "channels.parquet").exists()


@pytest.mark.parametrize(("rows_at_once", "keys_at_once"), [(7, 3), (7, 1000), (1000, 1000)])
def test_workers_count_the_same_however_much_they_hold(
    monkeypatch: pytest.MonkeyPatch, rows_at_once: int, keys_at_once: int
) -> None:
    monkeypatch.setattr(log_passes, "_ROWS_AT_ONCE", rows_at_once)
    monkeypatch.setattr(log_passes, "_KEYS_AT_ONCE", keys_at_once)
    log = some_log(6, ["x"])
    table = log_table(log)
    grid = ChannelGrid(("x",), (np.array([0.0, 6.0]),), (np.array([5.0, 9.0]),))
    people = pa.array(sorted({row[0] for row in log}))
    counted: Counter[int] = Counter()
    batches = table.drop_columns("time").to_batches(max_chunksize=4)
    for batch in log_passes.MessageKeys(people, grid).count(iter(batches)):
        for row in batch.to_pylist():
            counted[row["key"]] += row["n"]
    expected: Counter[int] = Counter()
    for who, _, values in log:
        channel = 0 if 0 <= values["x"] < 5 else 1 if 6 <= values["x"] < 9 else None
        if channel is not None:
            expected[people.to_pylist().index(who) * 2 + channel] += 1
    assert counted == expected
    looked = log_passes.look([np.array([0.0, 5.0])], iter(table.to_batches(4)))
    facts = [row for batch in looked for row in batch.to_pylist()]
    assert [row["n"] for row in facts if row["kind"] == 0] == [
        sum(0 <= values["x"] < 5 for _, _, values in log)
    ]
    assert sorted(row["name"] for row in facts if row["kind"] == -1) == people.to_pylist()
    moment = facts[-1]
    times = [time for _, time, _ in log]
    assert (moment["n"], moment["low"], moment["high"]) == (len(log), min(times), max(times))
