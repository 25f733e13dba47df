"""Faults of a content problem on disk: each is one sentence that names the file and the row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from content_tables import PLACES, PLAIN, silent, table, write
from topicloom.content.model.problem_folder import read_problem
from topicloom.content.model.tables import ACCESS, BROKERS, CHANNELS, COORDINATES, CORE, RATES, WANTS
from topicloom.errors import InputError


def without(name, column):
    return table(name, PLAIN[name]).drop_columns([column])


def with_place(*row):
    return {ACCESS: None, CORE: None, COORDINATES: [*PLACES, row]}


WEIRD = pa.table({"user": ["i"], "channel": [0.5], "rate": [1.0]})
FAULTS = {
    "a missing table": ({RATES: None}, "rates.parquet is missing"),
    "no prices": ({ACCESS: None, CORE: None}, "has no prices"),
    "only core prices": ({ACCESS: None}, "access.parquet is missing"),
    "both kinds of prices": ({COORDINATES: PLACES}, "both coordinates.parquet and access.parquet"),
    "a missing column": ({WANTS: without(WANTS, "last_channel")}, "wants.parquet has no column last_channel"),
    "no brokers": ({BROKERS: []}, "brokers.parquet holds no rows"),
    "no users": ({ACCESS: []}, "access.parquet holds no rows"),
    "no core prices": ({CORE: []}, "core.parquet holds no rows"),
    "no channels": ({CHANNELS: []}, "channels.parquet holds no rows"),
    "names that are numbers": (
        {BROKERS: pa.table({"broker": [1], "capacity": [1]})},
        "broker holds int64, not str",
    ),
    "channels that are fractions": ({RATES: WEIRD}, "channel holds double, not integers"),
    "rates that are text": (
        {RATES: pa.table({"user": ["i"], "channel": [0], "rate": ["1"]})},
        "rate holds string, not numbers",
    ),
    "bounds that are none": (
        {CHANNELS: pa.table({"channel": [0], "bounds": ["all"]})},
        "channels.parquet: column bounds holds string",
    ),
    "an empty name": ({RATES: [("i", 0, 1.0), (None, 0, 1.0)]}, r"row 2 \(user None.*column user is empty"),
    "an empty rate": ({RATES: [("i", 0, None)]}, "row 1 .*column rate is empty"),
    "the same broker twice": ({BROKERS: [("x", 1), ("y", 1), ("x", 2)]}, r"row 1 \(broker x.*more than once"),
    "a negative capacity": ({BROKERS: [("x", 9), ("y", -1)]}, r"row 2 \(broker y.*capacity is negative"),
    "an endless capacity": (
        {BROKERS: [("x", np.inf), ("y", 1)]},
        r"broker x.*capacity is not a finite number",
    ),
    "a negative price": ({CORE: [("x", "y", -7)]}, r"core.parquet, row 1 .*price is negative"),
    "a NaN price": (
        {ACCESS: [*PLAIN[ACCESS][:3], ("j", "y", np.nan)]},
        r"row 4 \(user j.*not a finite number",
    ),
    "a negative rate": (
        {RATES: [("j", 1, -0.5)]},
        r"rates.parquet, row 1 \(user j, channel 1.*rate is negative",
    ),
    "NaN rates": (
        {RATES: [("i", 1, 1.0), ("i", 1, np.nan), ("j", 1, np.nan)]},
        r"row 2 \(user i.*not a finite number; 1 more row has this fault",
    ),
    "an unknown broker": (
        {ACCESS: [*PLAIN[ACCESS], ("i", "z", 1)]},
        "row 5 .*broker z.*broker names no broker of brokers.parquet",
    ),
    "an unknown broker in core": ({CORE: [("x", "z", 1)]}, "b names no broker of brokers.parquet"),
    "missing access prices": (
        {ACCESS: [("i", "y", 1.0), ("j", "y", 1.0)]},
        r"no price between user i and broker x \(and 1 more is missing\)",
    ),
    "a missing core price": (
        {BROKERS: [("x", 1), ("y", 1), ("z", 99)], ACCESS: [(u, b, 1) for u in "ij" for b in "xyz"]},
        r"no price between broker x and broker z \(and 1 more",
    ),
    "two access prices": (
        {ACCESS: [*PLAIN[ACCESS], ("i", "y", 5)]},
        r"user i, broker y.*price differs",
    ),
    "two core prices": (
        {CORE: [("x", "y", 7), ("y", "x", 8)]},
        r"row 1 \(a x, b y.*price differs",
    ),
    "a price to itself": ({CORE: [("x", "y", 7), ("y", "y", 1)]}, r"row 2 .*price to itself"),
    "a publisher without prices": ({RATES: [("k", 0, 1)]}, r"rates.parquet, row 1 \(user k.*has no prices"),
    "a subscriber without prices": ({WANTS: [("k", 0, 1)]}, r"wants.parquet, row 1 \(user k.*has no prices"),
    "a rate beyond the channels": ({RATES: [("i", 2, 1)]}, "channel 2.*only channels 0 to 1"),
    "a want below the channels": ({WANTS: [("i", -1, 1)]}, "first_channel -1.*only channels 0 to 1"),
    "a want beyond the channels": ({WANTS: [("i", 0, 2)]}, "last_channel 2.*only channels 0 to 1"),
    "a want that ends before it begins": (
        {WANTS: [("i", 1, 0)]},
        "row 1 .*first_channel is above last_channel",
    ),
    "a gap in the channels": ({CHANNELS: [(0, []), (2, [])]}, "row 2 .*the 2 channels must be 0 to 1"),
    "a channel twice": ({CHANNELS: [(0, []), (0, []), (1, [])]}, r"row 1 \(channel 0\).*more than once"),
    "a strange kind": (with_place("star", "i", 0, 0, 1), "row 5 .*neither user nor broker"),
    "a place twice": (with_place("user", "i", 0, 0, 1), "row 1 .*twice.*1 more row has this fault"),
    "a place of a stranger": (
        with_place("broker", "z", 0, 0, 1),
        "id z.*names no broker of brokers.parquet",
    ),
    "no place of a broker": (
        {ACCESS: None, CORE: None, COORDINATES: [PLACES[0], PLACES[1]]},
        "has no row of broker x",
    ),
    "no place of a user": ({ACCESS: None, CORE: None, COORDINATES: PLACES[1:3]}, "holds no users"),
    "places nowhere": (with_place("user", "k", np.inf, 0, 1), "x is not a finite number"),
    "two core scales": (
        {ACCESS: None, CORE: None, COORDINATES: [*PLACES[:2], ("broker", "x", 0, 1, 2)]},
        r"row \d .*brokers differ in scale",
    ),
    "too little capacity": ({BROKERS: [("x", 1), ("y", 2)]}, "capacity 3 is below .* demand 7 by 4 "),
    "no capacity": ({BROKERS: [("x", 0), ("y", 0)]}, "total capacity is 0, but .* demand is 7"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence_that_names_it(tmp_path, fault):
    changed, complaint = FAULTS[fault]
    with pytest.raises(InputError, match=complaint) as raised:
        read_problem(write(tmp_path, changed), silent)
    assert "\n" not in str(raised.value)
