"""dcbr-m beside gm-m: what divide and conquer saves in time, what it costs in degree, where it pays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.bench_builders import drawn, read_numbers
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, in_child, measure

TITLE = "divide and conquer"
WAYS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("gm-m", {}),
    ("dcbr-m", {"p": "auto"}),
    ("dcbr-m", {"p": "auto", "inner": "gm", "polish": "none"}),
    ("dcbr-m", {"p": "auto", "inner": "gm-m"}),
    ("dcbr-m", {"p": "paper", "inner": "gm-m", "lambda_": 3}),
    ("dcbr-m", {"p": 7, "inner": "gm-m", "lambda_": 3}),
)
GROWTH = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
PAPER = drawn(8_000, 1_000, "10:90", "uniform")  # the largest of [Chen2010]
LARGE = drawn(100_000, 1_000, "20")

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    yield from beside_gm_m(options)
    yield from growth(options)


def beside_gm_m(options: Options) -> Iterator[Row]:
    """Time and degrees on one interest; the paper has under 4% of the time of its own GM-M."""
    cases = (
        ("V=8,000 T=1,000 s=10:90 uniform", PAPER, False),
        ("V=100,000 T=1,000 s=20 zipf:0.5", LARGE, True),
    )
    for name, workload, large in cases:
        for builder, parameters in WAYS:
            if large and parameters.get("p") == 7:
                continue  # groups of nearly the size that p=auto makes
            case = ", ".join([builder, *([_told(parameters)] if parameters else [])])
            cells = partial(_beside_cells, options, workload, builder, parameters, large)
            yield attempt(f"dcbr-m beside gm-m, {name}, best of {options.repeats}", case, cells)


def _told(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key.removesuffix('_')}={value}" for key, value in parameters.items())


def _beside_cells(
    options: Options, workload: Mapping[str, Any], builder: str, parameters: Mapping[str, Any], large: bool
) -> Cells:
    if large and options.quick:
        raise NotRun("left out by --quick")
    base, answer = (measured_build(options, workload, *way) for way in (WAYS[0], (builder, parameters)))
    # Faster than gm-m is what is asked for, by whatever factor comes out.
    asked = 1.0 if builder == "dcbr-m" and not large else None
    report = answer["report"]
    return {
        "time": Figure(answer["seconds"], "s"),
        "time : gm-m": Figure(answer["seconds"] / base["seconds"], "", asked),
        "average degree": f"{answer['degree_avg']:.2f}",
        "maximum degree": str(answer["degree_max"]),
        "groups": f"{report.get('groups', '')}",
        "bulk, light, representatives": " ".join(
            f"{report[key]:,}" for key in ("bulk", "light", "representatives") if key in report
        ),
    }


def growth(options: Options) -> Iterator[Row]:
    """The same over V: where the time of divide and conquer falls below that of gm-m."""
    table = "dcbr-m : gm-m over V (T=1,000 s=10:90 uniform): time, then average and maximum degree"
    counts = GROWTH[: 3 if options.quick else None]
    for builder, parameters in WAYS[1:]:
        yield attempt(table, _told(parameters), partial(_growth_cells, options, builder, parameters, counts))


def _growth_cells(
    options: Options, builder: str, parameters: Mapping[str, Any], counts: tuple[int, ...]
) -> Cells:
    cells: dict[str, Figure | str] = {}
    for count in counts:
        workload = drawn(count, 1_000, "10:90", "uniform")
        base, answer = (measured_build(options, workload, *way) for way in (WAYS[0], (builder, parameters)))
        ratios = (answer[key] / base[key] for key in ("seconds", "degree_avg", "degree_max"))
        cells[f"V={count:,}"] = " ".join(f"{ratio:.2f}" for ratio in ratios)
    return cells


def measured_build(
    options: Options, workload: Mapping[str, Any], builder: str, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """One measurement in a process of its own; each is made once in a run of the benchmarks."""
    name = "-".join(str(value).replace(":", "_") for value in workload.values())
    path = options.scratch / f"{name}.npz"
    if not path.exists():
        in_child("bench_builders:write_workload", workload=dict(workload), path=str(path))
    key = (name, builder, *parameters.items())
    if key not in _KNOWN:
        _KNOWN[key] = in_child(
            "bench_divide:measure_build",
            path=str(path),
            builder=builder,
            parameters=dict(parameters),
            repeats=options.repeats,
        )
    return _KNOWN[key]


_KNOWN: dict[tuple[Any, ...], dict[str, Any]] = {}


def measure_build(path: str, builder: str, parameters: dict[str, Any], repeats: int) -> dict[str, Any]:
    """In a child: build once on a small interest to load the kernels, then measure on the one in `path`."""
    from topicloom.overlay.builders.registry import BUILDERS
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    build = BUILDERS[builder].build
    build(generate_interest(workload_from_options(**drawn(1_500))))
    interest = read_numbers(str(Path(path)))
    measured = measure(lambda: build(interest, seed=1, **parameters), repeats)
    degrees = measured.result.overlay.degrees()
    return {
        "seconds": measured.seconds,
        "degree_avg": float(degrees.mean()),
        "degree_max": int(degrees.max()),
        "report": dict(measured.result.report),
    }
