"""Delays and losses: what the options mean, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.errors import InputError, TopicloomError, UsageError
from topicloom.simulation.links import Links, read_links

NODES = ["a", "b", "c"]


def links(latency: str, loss: float = 0.0, seed: int = 1, nodes: list[str] = NODES) -> Links:
    return read_links(latency, loss, len(nodes), seed, nodes)


def from_rows(folder: Path, *lines: str, nodes: list[str] = NODES, header: str = "u,v,seconds") -> Links:
    path = folder / "latency.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return links(str(path), nodes=nodes)


def test_one_delay_for_all() -> None:
    assert links("0.01").constant == 0.01
    assert links("0.01").delay(0, 2) == 0.01
    assert links("0").constant == 0.0
    assert links("0.02:0.02").constant == 0.02


def test_uniform_delays_fill_their_range() -> None:
    net = links("0.005:0.05")
    assert net.constant is None
    drawn = [net.delay(0, 1) for _ in range(5_000)]
    assert all(0.005 <= seconds <= 0.05 for seconds in drawn if seconds is not None)
    assert None not in drawn
    mean = sum(seconds or 0 for seconds in drawn) / 5_000
    assert mean == pytest.approx(0.0275, rel=0.03)
    assert min(drawn) < 0.006 and max(drawn) > 0.049  # type: ignore[type-var, operator]


def test_loss() -> None:
    """With loss no driver may rely on the constant, or nothing would ever be lost."""
    net = links("0.01", 0.2)
    assert net.constant is None
    drawn = [net.delay(0, 1) for _ in range(10_000)]
    assert set(drawn) == {0.01, None}
    assert 1_800 < drawn.count(None) < 2_200


def test_draws_follow_the_seed() -> None:
    def draws(seed: int) -> list[float | None]:
        net = links("0.005:0.05", 0.1, seed)
        return [net.delay(0, 1) for _ in range(100)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)


def test_a_file_holds_for_both_directions_unless_both_are_given(tmp_path: Path) -> None:
    net = from_rows(tmp_path, "a,b,0.1", "b,c,0.2", "c,b,0.3", "c,a,0.4", "a,b,0.1")
    assert net.constant is None
    assert [net.delay(0, 1), net.delay(1, 0)] == [0.1, 0.1]
    assert [net.delay(1, 2), net.delay(2, 1)] == [0.2, 0.3]
    assert [net.delay(0, 2), net.delay(2, 0)] == [0.4, 0.4]


def test_the_default_row(tmp_path: Path) -> None:
    net = from_rows(tmp_path, "*,*,0.5", "a,b,0.1")
    assert [net.delay(0, 1), net.delay(1, 0), net.delay(0, 2), net.delay(2, 1)] == [0.1, 0.1, 0.5, 0.5]


def test_a_node_may_be_called_like_the_default(tmp_path: Path) -> None:
    assert from_rows(tmp_path, "*,a,0.5", nodes=["*", "a"]).delay(1, 0) == 0.5
    with pytest.raises(InputError, match="paired with itself"):
        from_rows(tmp_path, "*,*,0.5", nodes=["*", "a"])


def test_columns_in_any_order_and_quoted_names(tmp_path: Path) -> None:
    net = from_rows(tmp_path, '0.1,"a,1",b', nodes=["a,1", "b"], header="\ufeffseconds,u,v")
    assert net.delay(1, 0) == 0.1


@pytest.mark.parametrize(
    ("latency", "loss", "words"),
    [
        ("-0.01", 0.0, "`latency=-0.01`: "),
        ("nan", 0.0, "`latency=nan`: "),
        ("inf", 0.0, "`latency=inf`: "),
        ("0.1:nan", 0.0, "`latency=0.1:nan`: "),
        ("-1:1", 0.0, "`latency=-1:1`: "),
        ("0.2:0.1", 0.0, "swap them"),
        ("0.1", -0.1, "`loss=-0.1`: "),
        ("0.1", 1.0, "`loss=1.0`: "),
        ("0.1", 1.5, "`loss=1.5`: "),
        ("0.1", float("nan"), "`loss=nan`: "),
    ],
)
def test_impossible_options_are_refused(latency: str, loss: float, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        links(latency, loss)


@pytest.mark.parametrize("latency", ["fast", "", "0.1:0.2:0.3", "/nowhere/latency.csv"])
def test_a_word_that_is_no_latency_is_refused(latency: str) -> None:
    with pytest.raises(InputError, match="no number of seconds, no range MIN:MAX, and no file"):
        links(latency)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["a,b,0.1", "a,x,0.1"], "line 3: 'x' is not a node"),
        (["y,b,0.1"], "line 2: 'y' is not a node"),
        (["*,b,0.1"], r"line 2: '\*' is not a node"),
        (["a,b,-0.1"], "line 2: seconds is '-0.1'"),
        (["a,b,nan"], "line 2: seconds is 'nan'"),
        (["a,b,soon"], "line 2: seconds is 'soon'"),
        (["a,b"], "line 2: it has 2 fields and the header has 3"),
        (["a,a,0.1"], "line 2: node 'a' is paired with itself"),
        (["a,b,0.1", "a,b,0.2"], "line 3: 'a' to 'b' takes 0.2 s here but 0.1 s"),
        (["*,*,0.1", "*,*,0.2"], "line 3: .* keep one"),
        (["a,b,0.1", "a,c,0.1"], "no row for 'b' and 'c'; add it, or a row"),
        (['"a,b,0.1'], "not sound CSV"),
        ([], "no row for 'a' and 'b'"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        from_rows(tmp_path, *lines)
    assert "latency.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("u,v", "no column 'seconds'"),
        ("u,v,seconds,w", "'w' which has no meaning here"),
        ("u,v,seconds,u", "'u' twice"),
    ],
)
def test_bad_headers_are_refused(tmp_path: Path, header: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_rows(tmp_path, header=header)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "latency.csv"
    path.write_bytes(b"u,v,seconds\na,b,\xff\xfe\n")
    with pytest.raises(InputError, match="not UTF-8"):
        links(str(path))
    path.write_bytes(b"")
    with pytest.raises(TopicloomError, match="no column 'u'"):
        links(str(path))
