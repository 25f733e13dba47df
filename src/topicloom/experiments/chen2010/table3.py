"""[Chen2010, Table III]: the Zipf workload."""

from __future__ import annotations

from topicloom.experiments.chen2010.tables import table

ZIPF = "the printed degrees fit an exponent of 2.5, not the 2.0 that the paper states"

EXPERIMENT = table(
    "Table III",
    "zipf",
    {
        "D DCBR": 16.3925,
        "D DCB": 16.378,
        "D GMM": 11.14,
        "d DCBR": 8.065,
        "d DCB": 8.064,
        "d GMM": 6.487,
        "T DCBR": 0.248,
        "T DCB": 0.601,
        "R ": 0.0742,
    },
    {
        **dict.fromkeys(("D DCBR", "D DCB", "D GMM", "d DCBR", "d DCB", "d GMM"), ZIPF),
        "R ": "with lambda = 3 correct representatives cover rare topics three times and are more",
    },
)
