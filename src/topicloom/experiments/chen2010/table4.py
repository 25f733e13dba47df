"""[Chen2010, Table IV]: the exponential workload."""

from __future__ import annotations

from topicloom.experiments.chen2010.tables import table

EXPERIMENT = table(
    "Table IV",
    "exp",
    {
        "D DCBR": 10.798,
        "D DCB": 10.793,
        "D GMM": 8.4425,
        "d DCBR": 4.499,
        "d DCB": 4.499,
        "d GMM": 3.93,
        "T DCBR": 0.130,
        "T DCB": 0.833,
        "R ": 0.0748,
    },
    {"R ": "with lambda = 3 correct representatives cover rare topics three times and are more"},
)
