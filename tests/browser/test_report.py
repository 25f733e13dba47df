"""Reports in a real browser: they open without faults or requests, and do what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx
import pytest

import topicloom
from accessibility import judge
from report_pages import HOSTILE, INK, hostile_interest, overlay_page, small_interest
from topicloom.report.sources.memory import view_builds
from topicloom.report.write import write_subject

pytestmark = [pytest.mark.needs("chromium", "playwright"), pytest.mark.slow]


@pytest.fixture(scope="module")
def interest() -> topicloom.Interest:
    return small_interest()


@pytest.fixture(scope="module")
def page_file(interest: topicloom.Interest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return overlay_page(tmp_path_factory.mktemp("page") / "page.html", interest, "gm", "ring-pt")


def pick(page: Any, field: str, name: str) -> None:
    """Type a name into a picker and take what is found, with the keyboard alone."""
    page.focus(field)
    page.keyboard.type(name)
    page.keyboard.press("Enter")


def test_a_topic_lights_exactly_its_subscribers_and_a_spanning_tree(opened, page_file, interest) -> None:
    page = opened(page_file)
    overlay = topicloom.build(interest, "gm").overlay
    ids, topics = interest.node_ids.to_pylist(), interest.topic_ids.to_pylist()
    graph = overlay.to_networkx()
    for number in (0, len(topics) // 2, len(topics) - 1):
        pick(page, "#draw-topic", topics[number])
        members = {ids[node] for node in interest.nodes_of(number)}
        inside = graph.subgraph(members)
        assert page.evaluate("topicloom.lit()") == sorted(members)
        lit = {frozenset(edge) for edge in page.evaluate("topicloom.litEdges()")}
        assert lit == {frozenset(edge) for edge in inside.edges}
        tree = networkx.Graph(page.evaluate("topicloom.treeEdges()"))
        assert networkx.is_tree(tree) and set(tree) == members
        assert all(inside.has_edge(*edge) for edge in tree.edges)


def test_a_node_tells_what_its_death_would_split(opened, page_file, interest) -> None:
    page = opened(page_file)
    graph = topicloom.build(interest, "gm").overlay.to_networkx()
    ids, topics = interest.node_ids.to_pylist(), interest.topic_ids.to_pylist()

    # The node that the most topics hang on.
    def splits(node: int) -> list[str]:
        found = []
        for topic in interest.topics_of(node):
            rest = {ids[one] for one in interest.nodes_of(topic)} - {ids[node]}
            if rest and not networkx.is_connected(graph.subgraph(rest)):
                found.append(topics[topic])
        return sorted(found)

    worst = max(range(len(ids)), key=lambda node: len(splits(node)))
    pick(page, "#draw-node", ids[worst])
    told = page.inner_text("#draw-panel")
    expected = splits(worst)
    assert expected and f"{len(expected)} of its" in told
    assert all(name in told for name in expected)


def test_an_edge_tells_its_topics_and_a_path_stays_within_its_topic(opened, page_file, interest) -> None:
    page = opened(page_file)
    overlay = topicloom.build(interest, "gm").overlay
    ids, topics = interest.node_ids.to_pylist(), interest.topic_ids.to_pylist()
    u, v = int(overlay.u[0]), int(overlay.v[0])
    pick(page, "#draw-node", ids[u])
    page.locator("#draw-panel h4", has_text="edges to").locator("+ ul").get_by_role(
        "button", name=ids[v], exact=True
    ).press("Enter")
    shared = sorted(set(interest.topics_of(u).tolist()) & set(interest.topics_of(v).tolist()))
    told = page.locator("#draw-panel h4", has_text="topics it carries").locator("+ ul").inner_text().split()
    assert told == [topics[topic] for topic in shared]
    # A path between the two ends of a topic.
    topic = int(interest.topics_of(0)[0])
    members = interest.nodes_of(topic)
    page.click("#draw-clear")
    pick(page, "#draw-topic", topics[topic])
    pick(page, "#draw-node", ids[int(members[0])])
    pick(page, "#draw-panel .path input", ids[int(members[-1])])
    inside = overlay.to_networkx().subgraph(ids[int(node)] for node in members)
    hops = networkx.shortest_path_length(inside, ids[int(members[0])], ids[int(members[-1])])
    assert page.locator("#draw-panel .path p").inner_text().startswith(f"{hops} hop")


def test_one_choice_shows_everywhere(opened, page_file) -> None:
    """A build chosen in a table is marked in charts and drawn; a hidden one leaves all charts."""
    page = opened(page_file)
    page.locator("[data-table=builds] button.pick", has_text="ring-pt").click()
    assert page.evaluate("topicloom.choice.build") == "ring-pt"
    assert page.input_value("#draw-build") == "1"
    assert page.locator("[data-chart=degrees] .series.dim").count() == 1
    page.locator("[data-chart=degrees] .legend button").first.click()
    for chart in ("degrees", "hops", "compared-degrees"):
        assert page.locator(f"[data-chart={chart}] .series").count() == 1


def test_charts_answer_to_pointer_and_keyboard(opened, page_file) -> None:
    page = opened(page_file)
    surface = page.locator("[data-chart=degrees] .surface")
    surface.focus()
    page.keyboard.press("ArrowRight")
    assert "nodes have at least" in page.inner_text("#tip")
    before = page.locator("[data-chart=degrees] .tick").all_inner_texts()
    page.keyboard.press("+")
    assert page.locator("[data-chart=degrees] .tick").all_inner_texts() != before
    page.keyboard.press("0")
    assert page.locator("[data-chart=degrees] .tick").all_inner_texts() == before
    dot = page.locator("[data-chart=popularity] .series circle").first
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "subscriber" in page.inner_text("#tip")
    page.mouse.down()
    page.mouse.up()
    assert page.evaluate("topicloom.choice.topic").startswith("t")
    assert page.evaluate("topicloom.lit().length") > 0


def test_the_keyboard_alone_reaches_everything(opened, page_file) -> None:
    """Everything that answers to a click is reached by the Tab key."""
    page = opened(page_file)
    wanted = page.evaluate(
        """() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
        .filter(one => one.checkVisibility()).map((one, at) => (one.dataset.place = at, at))"""
    )
    reached = set()
    page.evaluate("document.body.focus()")
    for _ in range(len(wanted) + 5):
        page.keyboard.press("Tab")
        place = page.evaluate("document.activeElement?.dataset?.place ?? null")
        reached.add(place)
    assert {str(place) for place in wanted} <= reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_names_pass_an_accessibility_check(opened, page_file, scheme) -> None:
    assert judge(opened(page_file, scheme)) == []


def test_hostile_names_are_shown_as_text(opened, tmp_path) -> None:
    interest = hostile_interest()
    page = opened(overlay_page(tmp_path / "hostile.html", interest, "gm"))
    assert page.locator("img").count() == 0
    shown = page.locator("[data-table=topics] td:first-child").all_text_contents()
    for name in HOSTILE:
        cut = name if len(name) <= 300 else name[:299] + "…"
        assert cut.replace("\r", "\n") in [text.replace("\r", "\n") for text in shown]
    ids, topics = interest.node_ids.to_pylist(), interest.topic_ids.to_pylist()
    picked = set()
    for button in page.locator("[data-table=topics] button.pick").all():
        button.evaluate("one => one.click()")
        name = page.evaluate("topicloom.choice.topic")
        picked.add(name)
        members = {ids[node] for node in interest.nodes_of(topics.index(name))}
        assert set(page.evaluate("topicloom.lit()")) == members
    assert picked == set(topics)


def test_without_webgl_the_drawing_is_made_on_a_canvas_and_says_so(plain_browser, page_file) -> None:
    page = plain_browser.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")
    assert page.get_attribute("#drawn", "data-renderer") == "canvas"
    assert "WebGL is not available" in page.inner_text("#draw-note")
    pick(page, "#draw-topic", "t00")
    assert page.evaluate("topicloom.lit().length") > 0


def test_5000_nodes_are_interactive_within_3_seconds(browser, tmp_path) -> None:
    """What the page itself works until a topic is lit, in seconds of its thread: others may be busy too."""
    interest = small_interest(5_000, 200, 5)
    build = topicloom.build(interest, "gm")
    path = write_subject(view_builds(interest, [build], bounds=False), tmp_path / "large.html")
    page = browser.new_page()
    watcher = browser.new_cdp_session(page)
    watcher.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")
    pick(page, "#draw-topic", "t07")
    found = {one["name"]: one["value"] for one in watcher.send("Performance.getMetrics")["metrics"]}
    assert found["TaskDuration"] < 3.0
    assert len(page.evaluate("topicloom.lit()")) == len(interest.nodes_of(7))
    assert path.stat().st_size < 5_000_000
    page.close()


def test_it_prints(opened, page_file) -> None:
    """Both ways to paper show the drawing in light colours: a dialog that says so, and the medium alone."""
    page = opened(page_file, "dark")
    page.evaluate(f"addEventListener('beforeprint', () => {{ window.heard = ({INK})(true) }})")
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.evaluate("heard")[0] > 5_000, "what WebGL has drawn is not printed"
    assert page.evaluate(INK, False) == [0, "dark"]
    page.emulate_media(media="print")
    whole, theme = page.evaluate(INK, True)
    assert whole > 5_000 and theme == "light" and not page.locator(".contents").is_visible()
    page.emulate_media(media="screen")
    assert page.evaluate(INK, False) == [0, "dark"]
    pick(page, "#draw-topic", "t00")
    page.emulate_media(media="print")
    assert 500 < page.evaluate(INK, True)[0] < whole, "what is chosen is printed"
