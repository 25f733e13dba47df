"""Arrays in all layers: what their types are called, read-only results, pointers, distinct values."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]
Bytes: TypeAlias = NDArray[np.uint8]
Bools: TypeAlias = NDArray[np.bool_]
Lists: TypeAlias = tuple[Longs, Ints, Longs, Ints]  # node_ptr, node_topics, topic_ptr, topic_nodes

CHUNK_ROWS = 1_000_000


def freeze_fields(value: Any) -> None:
    """Make every array of a dataclass read-only: values are shared, and kernels compile once for them."""
    for field in fields(value):
        array = getattr(value, field.name)
        if isinstance(array, np.ndarray):
            array.setflags(write=False)


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only, contiguous view whatever the array was, so that a kernel is compiled once."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


def take_chunks(ids: pa.StringArray, codes: NDArray[Any]) -> pa.ChunkedArray:
    """Return the identifiers of all codes, in chunks: one chunk of Arrow strings holds at most 2 GiB."""
    starts = range(0, max(len(codes), 1), CHUNK_ROWS)
    return pa.chunked_array([ids.take(pa.array(codes[start : start + CHUNK_ROWS])) for start in starts])


def pointers(owners: NDArray[Any], n_owners: int) -> Longs:
    """Return where each owner's run begins in a table sorted by owner; one more entry for the end.

    >>> pointers(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    starts = np.zeros(n_owners + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=n_owners), out=starts[1:])
    return starts


def run_sums(values: NDArray[Any], starts: Longs) -> NDArray[Any]:
    """Return the sum of each run of values; `starts` are pointers, as `pointers` gives them.

    >>> run_sums(np.array([1, 2, 3]), np.array([0, 2, 2, 3])).tolist()
    [3, 0, 3]
    """
    sums = np.concatenate((np.zeros(1, values.dtype), np.cumsum(values)))
    return np.diff(sums[starts])


def run_places(starts: Longs, sizes: Longs) -> Longs:
    """Return the places of runs that begin at `starts`, one run after the other.

    >>> run_places(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    places: Longs = np.arange(sizes.sum()) + np.repeat(starts - (ends - sizes), sizes)
    return places


def rounded_log2(values: NDArray[Any]) -> Floats:
    """Return logarithms to six places: their last bits differ between machines, and choices must not.

    >>> rounded_log2(np.array([1, 3, 8])).tolist()
    [0.0, 1.584963, 3.0]
    """
    logarithms: Floats = np.round(np.log2(values), 6)
    return logarithms


def sorted_distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values in ascending order; several times faster than numpy's unique."""
    ordered = np.sort(values)
    return ordered[first_of_runs(ordered)]


def first_of_runs(ordered: NDArray[Any]) -> Bools:
    """Return True at the first of each run of equal values."""
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def neighbor_lists(u: Ints, v: Ints, n_nodes: int) -> tuple[Longs, Ints]:
    """Return for each node the nodes it forms a pair with: (pointers, partners in the order of the pairs).

    >>> ptr, other = neighbor_lists(np.array([0, 0]), np.array([1, 2]), 3)
    >>> ptr.tolist(), other.tolist()
    ([0, 2, 3, 4], [1, 2, 0, 0])
    """
    owners = np.concatenate((u, v))
    order = np.argsort(owners, kind="stable")
    return pointers(owners, n_nodes), np.concatenate((v, u))[order].astype(np.int32)


def component_labels(n_nodes: int, u: NDArray[Any], v: NDArray[Any]) -> Ints:
    """Return for each node the number of its component under the edges (u[i], v[i]).

    >>> component_labels(4, np.array([0]), np.array([2])).tolist()
    [0, 1, 0, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if n_nodes == 0:
        return np.empty(0, np.int32)
    graph = coo_array((np.ones(len(u), np.int8), (u, v)), shape=(n_nodes, n_nodes)).tocsr()
    labels: Ints = connected_components(graph, directed=False)[1]
    return labels
