"""A report is one file that holds everything; bad input gives one sentence and no file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import topicloom
from report_pages import HOSTILE, hostile_interest, overlay_page, small_interest, write_build
from topicloom.errors import InputError, TopicloomError, UsageError
from topicloom.report import write_report
from topicloom.report.sections.registry import SECTIONS, make_sections
from topicloom.report.sources.memory import view_builds
from topicloom.report.write import check_report_path, write_subject


@pytest.fixture(scope="module")
def interest() -> topicloom.Interest:
    return small_interest()


def data_of(text: str) -> dict[str, object]:
    """Return the one block of JSON of a page."""
    blocks = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert len(blocks) == 1
    return json.loads(blocks[0])


def test_builds_of_one_table_make_a_page_that_asks_for_nothing(interest, tmp_path) -> None:
    folders = [write_build(tmp_path / name, interest, name) for name in ("gm", "gm-m")]
    text = write_report(folders, tmp_path / "page.html").read_text()
    assert not re.search(r'(?:src|href)="(?!#)', text.partition('id="data"')[0])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy and "default-src &#39;none&#39;" in policy[1] and "unsafe" not in policy[1]
    found = data_of(text)
    assert {"degrees", "subscriptions", "hops", "popularity", "compared-degrees"} <= found["charts"].keys()
    assert [graph["name"] for graph in found["drawing"]["graphs"]] == ["gm", "gm-m"]
    assert found["drawing"]["nodes"] == interest.node_ids.to_pylist()


def test_the_same_folders_give_the_same_bytes(interest, tmp_path) -> None:
    folder = write_build(tmp_path / "gm", interest)
    one, other = (write_report([folder], tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert one == other


def test_hostile_names_stand_in_no_markup(tmp_path) -> None:
    text = overlay_page(tmp_path / "page.html", hostile_interest(), "gm").read_text()
    assert "<script>alert" not in text and "<img" not in text
    assert {*HOSTILE} <= {*data_of(text)["drawing"]["nodes"]}


@pytest.mark.slow
def test_2000_nodes_stay_below_5_megabytes(tmp_path) -> None:
    interest = small_interest(2_000, 100, 10)
    builds = [topicloom.build(interest, name) for name in ("gm", "gm-m", "ring-pt")]
    page = write_subject(view_builds(interest, builds, bounds=False), tmp_path / "page.html")
    assert page.stat().st_size <= 5_000_000


def test_a_section_is_one_function_and_one_line(interest, monkeypatch) -> None:
    from topicloom.report.figures import Section

    monkeypatch.setitem(SECTIONS, "mine", lambda subject: Section(title="Mine"))
    monkeypatch.setitem(SECTIONS, "silent", lambda subject: None)
    found = make_sections(view_builds(interest, [topicloom.build(interest, "gm")]))
    assert found["mine"].title == "Mine" and "silent" not in found


def test_a_split_topic_is_told(tmp_path) -> None:
    interest = topicloom.Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x")])
    empty = topicloom.Build(topicloom.Overlay.from_edges(interest.node_ids, [0], [1]), "by hand")
    text = write_subject(view_builds(interest, [empty]), tmp_path / "page.html").read_text()
    assert "Not proved: topics are split in by hand" in text
    assert "two nodes that do not reach each other" in text


def broken(tmp_path: Path, interest: topicloom.Interest) -> dict[str, tuple[list[Path], str]]:
    """Return folders that no page can be made of, and what must be said about each."""
    good = write_build(tmp_path / "good", interest)
    other = write_build(tmp_path / "other", small_interest(seed=2))
    (tmp_path / "empty").mkdir()
    (tmp_path / "not-json").mkdir()
    (tmp_path / "not-json" / "summary.json").write_text("{")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "summary.json").write_text('{"format": 9, "kind": "build"}')
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "summary.json").write_text('{"format": 1, "kind": "poem"}')
    lying = write_build(tmp_path / "lying", interest, edges=1)
    lost = write_build(tmp_path / "lost", interest)
    (lost / "edges.parquet").unlink()
    exchanged = write_build(tmp_path / "exchanged", interest)
    (exchanged / "interest.parquet").write_bytes((other / "interest.parquet").read_bytes())
    hollow = tmp_path / "hollow"
    hollow.mkdir()
    (hollow / "summary.json").write_text('{"format": 1, "kind": "comparison", "rows": []}')
    course = tmp_path / "course"
    course.mkdir()
    (course / "summary.json").write_text('{"format": 1, "kind": "simulation"}')
    return {
        "none": ([], "at least one folder"),
        "missing": ([tmp_path / "nowhere"], "there is no folder"),
        "a file": ([good / "summary.json"], "is a file"),
        "empty": ([tmp_path / "empty"], "none of the folders that topicloom writes"),
        "not JSON": ([tmp_path / "not-json"], "is damaged"),
        "new format": ([tmp_path / "new"], "format is 9"),
        "strange kind": ([tmp_path / "strange"], "no report of kind 'poem'"),
        "lying": ([lying], "its summary has 1 edges"),
        "lost": ([lost], "is damaged"),
        "exchanged": ([exchanged], "is damaged"),
        "hollow": ([hollow], "holds no builds"),
        "two tables": ([good, other], "cannot be compared"),
        "two kinds": ([good, course], "cannot be compared"),
        "broken simulation": ([course], "is damaged"),
    }  # fmt: skip


def test_bad_input_is_one_sentence_and_leaves_no_file(interest, tmp_path) -> None:
    out = tmp_path / "page.html"
    for name, (folders, said) in broken(tmp_path, interest).items():
        with pytest.raises(TopicloomError) as error:
            write_report(folders, out)
        assert said in str(error.value), name
        assert error.value.exit_code == 2 and "\n" not in str(error.value)
        assert not out.exists()


def test_a_page_is_named_like_one(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"ends in \.html"):
        check_report_path(tmp_path / "page.pdf")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        check_report_path(tmp_path / "folder.html")


def test_hosts_and_runs_go_with_a_mesh(interest, tmp_path) -> None:
    folder = write_build(tmp_path / "gm", interest)
    with pytest.raises(UsageError, match="`hosts` goes with one exported mesh"):
        write_report([folder], tmp_path / "page.html", hosts=tmp_path / "hosts.csv")
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(InputError, match="is not the JSON that topicloom run prints"):
        write_report([folder], tmp_path / "page.html", run=tmp_path / "run.json")


def test_a_build_shows_itself_in_notebooks(interest) -> None:
    build = topicloom.build(interest, "gm")
    html = build._repr_html_()
    assert html and html.startswith("<iframe") and "Degree distribution" in html
    assert "Builds compared" in (topicloom.compare(interest, ["gm", "star"])._repr_html_() or "").replace(
        "&#34;", '"'
    )
    bare = topicloom.Build(build.overlay, "<b>")
    assert "&lt;b&gt;" in (bare._repr_html_() or "")
