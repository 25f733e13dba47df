"""[Chen2010, Table II]: the uniform workload."""

from __future__ import annotations

from topicloom.experiments.chen2010.tables import table

EXPERIMENT = table(
    "Table II",
    "uniform",
    {
        "D DCBR": 10.883,
        "D DCB": 10.29,
        "D GMM": 8.013,
        "d DCBR": 8.188,
        "d DCB": 8.170,
        "d GMM": 8.013,
        "T DCBR": 0.112,
        "T DCB": 0.655,
        "R ": 0.142,
    },
    {"d GMM": "the printed row repeats the maximum degrees, digit by digit"},
)
