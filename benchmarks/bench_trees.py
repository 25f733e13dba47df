"""trees: links and classes of a forest packing, height and load of topic trees, what backups heal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.bench_builders import drawn
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, fit_exponent, in_child, measure

TITLE = "topic trees, forest packing, backups"
SMALL = (  # nodes, topics, subscriptions, popularity, overlay; seconds asked for
    (30, 20, "6", "uniform", "gm", None),
    (30, 20, "6", "zipf:1", "gm", None),
    (50, 40, "4:12", "zipf:1", "gm", None),
    (50, 40, "4:12", "zipf:1", "full-mesh", None),
    (50, 200, "10:20", "zipf:1", "gm", 2.0),
)
LARGE = ((1000, 100, "10", "zipf:1", "gm", 10.0), (1000, 1000, "20", "zipf:1", "gm", 10.0))
GROWTH = (60, 120, 240)
TREES = ((50, 40, "4:12", "gm"), (50, 40, "4:12", "full-mesh"), (1000, 1000, "20", "gm"))
SEEDS = (1, 2, 3)

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    table = "Packing: links and classes (first-fit: input order, one breadth-first tree for each topic)"
    for case in (*SMALL, *LARGE):
        nodes, topics, sizes, law, overlay, asked = case
        name = f"V={nodes} T={topics} s={sizes} {law}, {overlay}"
        yield attempt(table, name, partial(_packing_cells, options, case, asked))
    sizes_seconds: list[tuple[int, float]] = []
    for n in GROWTH:
        yield attempt(
            "Growth, V=T s=8 uniform, gm", f"V={n}", partial(_growth_cells, options, n, sizes_seconds)
        )
    if len(sizes_seconds) > 1:
        exponent = fit_exponent(*zip(*sizes_seconds, strict=True))
        yield Row("Growth, V=T s=8 uniform, gm", "exponent", {"time": Figure(exponent, "")})
    for case in TREES:
        name = "V={} T={} s={} zipf:1, {}".format(*case)
        yield attempt("Trees against breadth-first trees", name, partial(_tree_cells, options, *case))
    for case in TREES[:2]:
        name = "V={} T={} s={} zipf:1, {}".format(*case)
        table = "Healed share of the (dead node, topic) pairs that need it, and the links; mean of 3 seeds"
        yield attempt(table, name, partial(_healing_cells, *case))


def _packing_cells(options: Options, case: tuple[Any, ...], asked: float | None) -> Cells:
    nodes, topics, sizes, law, overlay, _ = case
    if options.quick and nodes > 500:
        raise NotRun("left out by --quick")
    workload = drawn(nodes, topics, sizes, law)
    answer = in_child("bench_trees:measure_packing", workload=workload, overlay=overlay, first_fit=True)
    return {
        "a class for each topic": f"{answer['alone']:,}",
        "first-fit": f"{answer['first_links']:,} in {answer['first_classes']}",
        "ours": f"{answer['links']:,} in {answer['classes']}",
        "at least": f"{answer['bound']:,}",
        "time": Figure(answer["seconds"], "s", asked),
    }


def _growth_cells(options: Options, n: int, seen: list[tuple[int, float]]) -> Cells:
    if options.quick and n > 100:
        raise NotRun("left out by --quick")
    workload = drawn(n, n, "8", "uniform")
    answer = in_child("bench_trees:measure_packing", workload=workload, overlay="gm", first_fit=False)
    seen.append((n, answer["seconds"]))
    return {"time": Figure(answer["seconds"], "s"), "links": f"{answer['links']:,} of {answer['alone']:,}"}


def _tree_cells(options: Options, nodes: int, topics: int, sizes: str, overlay: str) -> Cells:
    workload = drawn(nodes, topics, sizes, "zipf:1")
    answer = in_child(
        "bench_trees:measure_trees", workload=workload, overlay=overlay, repeats=options.repeats
    )
    cells: dict[str, Figure | str] = {"time": Figure(answer["seconds"], "s")}
    for name in ("hops", "crowd", "height_max", "load_max"):
        cells[name.replace("_", " ")] = f"{answer[name]:,.0f} (breadth-first {answer['plain'][name]:,.0f})"
    return cells


def _healing_cells(nodes: int, topics: int, sizes: str, overlay: str) -> Cells:
    workload = drawn(nodes, topics, sizes, "zipf:1")
    answer = in_child("bench_trees:measure_backups", workload=workload, overlay=overlay)
    return {name: f"{share:.0%} with {links:,.0f} links" for name, (share, links) in answer.items()}


# --- inside a child ----------------------------------------------------------------------------------------


def _case(workload: dict[str, Any], overlay: str) -> tuple[Any, Any]:
    from topicloom.overlay.builders.registry import BUILDERS
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    interest = generate_interest(workload_from_options(**workload))
    return interest, BUILDERS[overlay].build(interest).overlay


def measure_packing(workload: dict[str, Any], overlay: str, first_fit: bool) -> dict[str, Any]:
    """Links, classes and seconds of a packing, proven first; beside first-fit and the bound."""
    from benchmarks.mesh_figures import links_bound
    from topicloom.mesh.topic_trees.check import check_packing
    from topicloom.mesh.topic_trees.packing import class_edges, pack_forests

    pack_forests(*_case(drawn(8, 4, "2", "uniform"), "gm"))  # loads the kernels
    interest, edges = _case(workload, overlay)
    measured = measure(lambda: pack_forests(interest, edges), 1)
    faults = check_packing(interest, edges, measured.result)
    if faults:
        raise AssertionError(faults[0])
    first = _first_fit(interest, edges) if first_fit else (0, 0)
    return {
        "seconds": measured.seconds,
        "links": len(class_edges(measured.result)[0]),
        "classes": measured.result.n_classes,
        "first_links": first[0],
        "first_classes": first[1],
        "alone": int((interest.topic_sizes() - 1).clip(0).sum()),
        "bound": links_bound(interest, edges),
    }


def _plain_trees(interest: Any, overlay: Any) -> list[dict[int, int]]:
    """The parents of a breadth-first tree from the smallest subscriber of each topic."""
    ptr, nbr = overlay.adjacency()
    near = [nbr[ptr[node] : ptr[node + 1]].tolist() for node in range(interest.n_nodes)]
    trees = []
    for topic in range(interest.n_topics):
        members = interest.nodes_of(topic).tolist()
        left, queue, parent = set(members[1:]), members[:1], {}
        for node in queue:
            for other in near[node]:
                if other in left:
                    left.remove(other)
                    parent[other] = node
                    queue.append(other)
        trees.append(parent)
    return trees


def _first_fit(interest: Any, overlay: Any) -> tuple[int, int]:
    """(links, classes) when each topic's own tree goes to the first class in which it closes no cycle."""
    classes: list[tuple[dict[int, int], set[tuple[int, int]]]] = []
    for tree in _plain_trees(interest, overlay):
        edges = {(min(edge), max(edge)) for edge in tree.items()}
        for colour, used in classes:
            joined = _joined(colour, edges - used)
            if joined is not None:
                colour.update(joined)
                used |= edges
                break
        else:
            classes.append((_joined({}, edges) or {}, edges))
    return sum(len(used) for _, used in classes), len(classes)


def _joined(colour: dict[int, int], edges: set[tuple[int, int]]) -> dict[int, int] | None:
    """The components with these edges more; None if they close a cycle."""
    colour = dict(colour)
    for a, b in sorted(edges):
        old, new = colour.setdefault(a, a), colour.setdefault(b, b)
        if old == new:
            return None
        for node in colour:
            colour[node] = new if colour[node] == old else colour[node]
    return colour


def measure_trees(workload: dict[str, Any], overlay: str, repeats: int) -> dict[str, Any]:
    """The objective of our trees, and of breadth-first trees from the smallest subscriber."""
    import dataclasses

    import numpy as np

    from benchmarks.mesh_figures import tree_cost
    from topicloom.mesh.model.topic_trees import TopicTrees
    from topicloom.mesh.topic_trees.spanning import build_topic_trees

    interest, edges = _case(workload, overlay)
    build_topic_trees(interest, edges)
    measured = measure(lambda: build_topic_trees(interest, edges), repeats)
    plain = _plain_trees(interest, edges)
    arcs = np.array([arc for tree in plain for arc in tree.items()], np.int32).reshape(-1, 2)
    starts = np.concatenate(([0], np.cumsum([len(tree) for tree in plain])))
    roots = measured.result.roots.copy()
    other = TopicTrees(interest, starts, arcs[:, 0].copy(), arcs[:, 1].copy(), roots)
    return {
        "seconds": measured.seconds,
        **dataclasses.asdict(tree_cost(measured.result)),
        "plain": dataclasses.asdict(tree_cost(other)),
    }


def measure_backups(workload: dict[str, Any], overlay: str) -> dict[str, tuple[float, float]]:
    """(healed share, links) for each way of making links, proven first."""
    from benchmarks.mesh_figures import measure_healing
    from topicloom.mesh.topic_trees.backups import with_backups
    from topicloom.mesh.topic_trees.check import check_links
    from topicloom.mesh.topic_trees.dialing import forest_links, tree_links
    from topicloom.mesh.topic_trees.packing import pack_forests
    from topicloom.mesh.topic_trees.spanning import build_topic_trees

    found: dict[str, list[tuple[float, float]]] = {}
    for seed in SEEDS:
        interest, edges = _case({**workload, "seed": seed}, overlay)
        trees = build_topic_trees(interest, edges)
        ways = tree_links(trees, by_direction=True)
        made = {
            "a link for each edge": with_backups(interest, tree_links(trees)),
            "by direction": with_backups(interest, ways),
            "split in up to 3": with_backups(interest, ways, split=3),
            "classes": with_backups(interest, forest_links(pack_forests(interest, edges)), classes=True),
        }
        for name, links in made.items():
            faults = check_links(interest, links, classes=name == "classes")
            if faults:
                raise AssertionError(faults[0])
            found.setdefault(name, []).append((measure_healing(interest, links).share, len(links)))
    return {
        name: (sum(share for share, _ in rows) / len(rows), sum(links for _, links in rows) / len(rows))
        for name, rows in found.items()
    }
