"""Constraints from files of every format: what is read, what is refused and how, what is told."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicloom.errors import InputError
from topicloom.overlay.jobs.constraints import ConstraintFiles, load_constraints
from topicloom.overlay.jobs.interest_table import LoadedInterest
from topicloom.overlay.model.constraints import NO_CAP
from topicloom.overlay.model.interest import Interest
from topicloom.tables.folder import SUMMARY
from topicloom.tables.spark.spark_choice import SparkChoice

NODES = Interest.from_pairs([(node, "x") for node in ("a", "b", "c", "d, e")])
STARRED = Interest.from_pairs([(node, "x") for node in ("*", "a", "b")])


@pytest.fixture
def load(spark, tmp_path):
    """Write each text (or table) to a file of the given ending, read all of them, give limits and notices."""

    def run(interest=NODES, **contents):
        paths = {}
        for kind, (ending, content) in contents.items():
            path = tmp_path / f"{kind}{ending}"
            if isinstance(content, pa.Table):
                pq.write_table(content, path)
            elif ending.endswith(".gz"):
                path.write_bytes(gzip.compress(content.encode()))
            else:
                path.write_text(content)
            paths[kind] = str(path)
        told: list[str] = []
        limits = load_constraints(
            ConstraintFiles(**paths), LoadedInterest(interest, ""), spark=SparkChoice(), notice=told.append
        )
        return limits, told

    return run


def pairs(found):
    return list(zip(found.u.tolist(), found.v.tolist(), strict=True))


def test_tables_of_every_format(load):
    limits, told = load(
        caps=(".csv", 'cap,node\n2,a\n7,"d, e"\n'),
        forbid=(".tsv", "u\tv\nb\ta\na\tb\n"),
        require=(".jsonl.gz", '{"v": "d, e", "u": "a"}\n'),
        costs=(".parquet", pa.table({"u": ["c"], "v": ["b"], "cost": [2.5], "remark": ["far"]})),
    )
    constraints = limits.constraints
    assert constraints.caps.tolist() == [2, NO_CAP, NO_CAP, 7]
    assert pairs(constraints.forbidden) == [(0, 1)]
    assert pairs(constraints.required) == [(0, 3)]
    assert (pairs(constraints.priced), constraints.costs.tolist()) == ([(1, 2)], [2.5])
    assert limits.start is None
    assert told == []


def test_a_star_caps_all_nodes_that_are_not_listed_unless_a_node_is_called_so(load):
    caps = (".csv", "node,cap\n*,3\na,0\na,0\n")
    assert load(caps=caps)[0].constraints.caps.tolist() == [0, 3, 3, 3]
    assert load(STARRED, caps=caps)[0].constraints.caps.tolist() == [3, 0, NO_CAP]


def test_costs_in_text_and_json(load):
    text = load(costs=(".csv", "cost,v,u\n1e1,b,a\n"))[0].constraints
    lines = load(costs=(".jsonl", '{"u": "a", "v": "b", "cost": 10}\n'))[0].constraints
    assert text.costs.tolist() == lines.costs.tolist() == [10.0]


def test_a_table_with_a_header_alone_limits_nothing(load):
    assert load(forbid=(".csv", "u,v\n"))[0].constraints.kinds() == ()


@pytest.mark.parametrize(
    ("kind", "ending", "content", "message"),
    [
        (
            "caps",
            ".csv",
            "node,cap\na,1\nz,1\n",
            "caps.csv: in the row 'z,1' 'z' is not a node of the interest",
        ),
        ("caps", ".csv", "node,cap\na,-1\n", "in the row 'a,-1' the cap is not a whole number of at least 0"),
        ("caps", ".csv", "node,cap\na,1.5\n", "the cap is not a whole number"),
        ("caps", ".csv", "node,cap\na,1\na,2\n", "the cap differs from another row of the same node"),
        ("caps", ".csv", "node,cap\na,1,2\n", "too many fields"),
        ("caps", ".csv", "a,1\nb,2\n", "caps.csv has no columns node, cap"),
        ("caps", ".csv", "", "holds no row: it is empty"),
        ("caps", ".parquet", pa.table({"node": ["a"], "limit": [1]}), "has no columns node, cap"),
        ("forbid", ".csv", "a,b\nb,c\n", "forbid.csv has no columns u, v"),
        ("forbid", ".csv", "u,v\na,a\n", "in the row 'a,a' a node is paired with itself"),
        ("require", ".csv", "u,v\na,y\na,b\n", "in the row 'a,y' 'y' is not a node of the interest"),
        ("costs", ".csv", "u,v,cost\na,b,0\n", "'a,b,0': the cost '0' is not a finite number above 0"),
        ("costs", ".csv", "u,v,cost\na,b,-2\n", "the cost '-2' is not a finite number above 0"),
        ("costs", ".csv", "u,v,cost\na,b,inf\n", "the cost 'inf' is not a finite number above 0"),
        ("costs", ".csv", "u,v\na,b\n", "costs.csv has no columns u, v, cost"),
        ("costs", ".csv", "u,v,cost\na,b,1\nb,a,2\n", "the cost differs from another row of the same pair"),
        (
            "costs",
            ".jsonl",
            '{"u": "a", "v": "b", "cost": 0}\n',
            "the cost '0' is not a finite number above 0",
        ),
        ("costs", ".jsonl", '{"u": "a", "v": "b"}\n', "the cost is missing"),
        (
            "costs",
            ".parquet",
            pa.table({"u": ["a"], "v": ["b"], "cost": [0.0]}),
            "not a finite number above 0",
        ),
        (
            "costs",
            ".parquet",
            pa.table(
                {
                    "u": ["a"],
                    "v": ["b"],
                    "cost": [
                        None,
                    ][:1],
                }
            ),
            "the cost is missing",
        ),
        ("start", ".csv", "a,b\n", "start.csv has no columns u, v"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(load, kind, ending, content, message):
    with pytest.raises(InputError) as caught:
        load(**{kind: (ending, content)})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_existing_edges_that_make_no_sense_any_more_are_left_out_and_told(load):
    limits, told = load(start=(".csv", "u,v\na,b\nb,a\na,gone\nc,c\nb,c\n"), forbid=(".csv", "u,v\nb,c\n"))
    assert pairs(limits.start) == [(0, 1), (1, 2)]
    assert len(told) == 1
    assert told[0].endswith(
        "left out: 1 that name a node that the interest does not have, 1 that join a node to itself, "
        "1 that are forbidden"
    )


def test_a_build_folder_is_an_existing_overlay(load, tmp_path):
    folder = tmp_path / "start"
    folder.mkdir()
    pq.write_table(pa.table({"u": ["a"], "v": ["c"]}), folder / "edges.parquet")
    (folder / SUMMARY).write_text(json.dumps({}))
    limits = load_constraints(
        ConstraintFiles(start=str(folder)), LoadedInterest(NODES, ""), spark=SparkChoice()
    )
    assert pairs(limits.start) == [(0, 2)]


def test_a_file_that_is_not_there_is_refused_before_any_work(tmp_path):
    files = ConstraintFiles(caps=str(Path(tmp_path) / "nothing.csv"))
    with pytest.raises(InputError, match="no such file or folder"):
        files.check_there()


def test_a_parquet_table_may_lack_the_optional_column(tmp_path):
    """Without a column `load` the table of caps is whole; without `cost` that of costs is not."""
    pq.write_table(pa.table({"node": ["a", "*"], "cap": [2, 9]}), tmp_path / "caps.parquet")
    pq.write_table(pa.table({"u": ["a"], "v": ["b"]}), tmp_path / "costs.parquet")
    files = ConstraintFiles(caps=str(tmp_path / "caps.parquet"))
    files.check_there()
    here = {"spark": SparkChoice(engine="local")}
    limits = load_constraints(files, LoadedInterest(NODES, ""), **here)
    assert limits.constraints.caps.tolist() == [2, 9, 9, 9] and limits.constraints.load_caps is None
    with pytest.raises(InputError, match="has no columns u, v, cost"):
        load_constraints(
            ConstraintFiles(costs=str(tmp_path / "costs.parquet")), LoadedInterest(NODES, ""), **here
        )
