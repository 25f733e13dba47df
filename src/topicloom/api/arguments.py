"""What callers may give: anything that can mean an interest or edges; a wrong argument gets one sentence."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.progress import Progress, Silent
from topicloom.base.warn import warn_caller
from topicloom.errors import UsageError
from topicloom.overlay.measures.connectivity import node_codes, sound_edges
from topicloom.overlay.model import frames
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.build_folder import is_build, load_build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import (
    chosen_columns,
    edge_rows,
    is_graph,
    is_spark,
    is_table,
    refuse,
)
from topicloom.overlay.model.spark_frames import pair_columns

PathLike: TypeAlias = str | os.PathLike[str]
Pairs: TypeAlias = Iterable[Sequence[str | int]] | NDArray[Any]
InterestLike: TypeAlias = (
    "Interest | Build | Pairs | Mapping[Any, Iterable[str | int]] | pa.Table | pandas.DataFrame | "
    "pyspark.sql.DataFrame | networkx.Graph | PathLike"
)
EdgesLike: TypeAlias = (
    "Build | Overlay | Pairs | pa.Table | pandas.DataFrame | pyspark.sql.DataFrame | networkx.Graph | "
    "igraph.Graph | PathLike"
)
if TYPE_CHECKING:
    import igraph
    import networkx
    import pandas
    import pyspark.sql

EDGES = (
    "a Build, an Overlay, pairs of node names, a table (pandas, Arrow, Spark) or a graph (networkx, igraph)"
)


def as_interest(value: InterestLike, argument: str = "interest") -> Interest:
    """Return the interest that is meant; a build has one, a path of a build too."""
    if isinstance(value, Build):
        if value.interest is None:
            raise UsageError(f"`{argument}`: this build does not know its interest; give the interest itself")
        return value.interest
    if isinstance(value, str | os.PathLike):
        if is_build(Path(value)):
            return as_interest(load_build(value))
        raise UsageError(f"`{argument}` is the path {str(value)!r}: read it with topicloom.read first")
    return frames.interest_of(value, argument)


def as_rows(value: EdgesLike, argument: str = "edges") -> Overlay | pa.Table:
    """Return the overlay that is meant, or rows `u`, `v` of whatever else has edges."""
    if isinstance(value, Build):
        return value.overlay
    if isinstance(value, Overlay):
        return value
    if isinstance(value, str | os.PathLike):
        if is_build(Path(value)):
            return load_build(value, interest=False).overlay
        raise UsageError(
            f"`{argument}` is the path {str(value)!r}, where no build is; it takes {EDGES}, or the path of a "
            "build"
        )
    if is_spark(value):
        frame: Any = value
        columns = chosen_columns(frame, ("u", "v"), argument, first_two=True)
        return edge_rows(pair_columns(frame, *columns), argument)
    table = is_table(value) or is_graph(value)
    if not table and (isinstance(value, Interest | dict) or not hasattr(value, "__iter__")):
        raise refuse(argument, EDGES, value)
    return edge_rows(value, argument)


def as_overlay(interest: Interest, value: EdgesLike, argument: str = "edges") -> Overlay:
    """Return the overlay over the nodes of an interest; edges left out are told by a warning."""
    rows = as_rows(value, argument)
    if isinstance(rows, Overlay):
        if rows.node_ids.equals(interest.node_ids):
            return rows.with_interest(interest)
        rows = rows.to_arrow()
    u, v = (node_codes(rows[name], interest.node_ids) for name in ("u", "v"))
    sound = sound_edges(u, v, interest.n_nodes)
    counts = {
        "with an unknown node": sound.unknown,
        "from a node to itself": sound.loops,
        "given twice": sound.duplicates,
    }
    if any(counts.values()):
        told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        warn_caller(f"edges are left out: {told}")
    return Overlay(interest.node_ids, sound.low, sound.high, interest)


def interest_beside(edges: EdgesLike, interest: InterestLike | None) -> Interest:
    """Return the interest that goes with edges: the one given, or the one that they know themselves."""
    if interest is not None:
        return as_interest(interest)
    if isinstance(edges, Overlay) and edges.interest is not None:
        return edges.interest
    if isinstance(edges, Build) or (isinstance(edges, str | os.PathLike) and is_build(Path(edges))):
        return as_interest(edges)
    as_rows(edges)  # what means no edges at all is told first
    raise UsageError("`interest` is missing: edges of your own need the (node, topic) pairs beside them")


def check_whole(name: str, value: object, *, least: int | None = None, none: bool = False) -> None:
    """Refuse what is no whole number."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if (none and value is None) or (whole and (least is None or int(value) >= least)):  # type: ignore[call-overload]
        return
    bound = "" if least is None else f" of at least {least}"
    raise refuse(name, f"a whole number{bound}{' or None' if none else ''}", value)


def check_flag(name: str, value: object, *, none: bool = False) -> None:
    """Refuse what is neither True nor False: a text such as "no" would count as True."""
    if not isinstance(value, bool | np.bool_) and not (none and value is None):
        raise refuse(name, f"True or False{' or None' if none else ''}", value)


def check_seconds(name: str, value: object, *, none: bool = False) -> None:
    """Refuse what is no number of seconds."""
    if none and value is None:
        return
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < math.inf:
        raise refuse(name, f"a number of seconds{' or None' if none else ''}", value)


def check_text(name: str, value: object, takes: str, *, none: bool = False) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str) and not (none and value is None):
        raise refuse(name, takes, value)


def check_path(name: str, value: object, takes: str = "a path") -> Path:
    """Return a path; refuse what is none."""
    if not isinstance(value, str | os.PathLike):
        raise refuse(name, takes, value)
    return Path(value)


def clock(progress: Progress | None) -> Progress:
    """Return who hears of progress, and owns a clock."""
    if progress is None:
        return Silent(time.monotonic)
    if not all(hasattr(progress, name) for name in ("now", "phase", "advance", "should_stop")):
        raise refuse("progress", "an object with now, phase, advance and should_stop", progress)
    return progress
