"""The page as text: template, styles, scripts and data in one file that needs nothing else.

The content security policy allows exactly the scripts and styles in it, by their digests, and no network at
all. Data is one block of JSON, in which no character can end the block.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

import msgspec
from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from topicloom.report.drawing.graph import Drawing
from topicloom.report.figures import Chart, Section
from topicloom.version import __version__

VENDORED = ("d3.min.js", "graphology.umd.min.js", "sigma.min.js")
STYLES = ("page.css", "charts.css", "drawing.css", "print.css")


class Verdict(msgspec.Struct, frozen=True):
    """The one thing to know, in a few words."""

    text: str
    tone: Literal["good", "bad"]


class Title(msgspec.Struct, frozen=True, kw_only=True):
    """What stands above all sections."""

    eyebrow: str
    title: str
    facts: str
    verdict: Verdict | None = None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """All that a page shows."""

    head: Title
    sections: dict[str, Section]
    drawing: Drawing | None = None


class PageData(msgspec.Struct, frozen=True):
    """The block of JSON."""

    charts: dict[str, Chart]
    keys: dict[str, list[str]]  # what the rows of each table stand for: an attribute would lose line ends
    drawing: Drawing | None


def render(page: Page) -> str:
    """Return the whole file."""
    scripts = [_vendored(name) for name in VENDORED if page.drawing is not None or name.startswith("d3")]
    scripts.append(own_script())
    style = "\n".join(_text(_folder() / "styles" / name) for name in STYLES)
    policy = (
        f"default-src 'none'; script-src {_digests(scripts)}; style-src {_digests([style])}; img-src data: "
        "blob:; base-uri 'none'; form-action 'none'"
    )
    charts = {chart.key: chart for section in page.sections.values() for chart in section.charts}
    tables = [table for section in page.sections.values() for table in section.tables]
    keys = {table.key: [row.key for row in table.rows] for table in tables if table.link}
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            head=page.head,
            sections=page.sections,
            drawing=page.drawing,
            version=__version__,
            policy=policy,
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            data=Markup(safe_json(PageData(charts, keys, page.drawing))),
        )
    )


def render_frame(page: str, title: str) -> str:
    """Return a whole page as a frame that stands in another one."""
    return _environment().get_template("frame.html.j2").render(page=page, title=title)


def render_plain(text: str) -> str:
    """Return text as it is, as HTML."""
    return _environment().get_template("frame.html.j2").render(page="", title="", plain=text)


def safe_json(value: msgspec.Struct) -> str:
    """Return JSON that can stand inside a script element: nothing in it ends the element or a line.

    >>> class One(msgspec.Struct):
    ...     name: str
    >>> safe_json(One("</script>"))
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = msgspec.json.encode(value).decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def own_script() -> str:
    """Return our own scripts as one, in the order of their names, in a scope of their own."""
    folder = _folder() / "scripts"
    names = sorted(path.name for path in folder.iterdir() if path.name.endswith(".js"))
    return '(() => {\n"use strict";\n' + "\n".join(_text(folder / name) for name in names) + "\n})();"


def shorten(text: str, most: int) -> str:
    """Cut a long text."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _environment() -> Environment:
    templates: Mapping[str, str] = {
        path.name: _text(path) for path in _folder().iterdir() if path.name.endswith(".j2")
    }
    found = Environment(
        loader=DictLoader(templates), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    found.filters["short"] = shorten
    return found


def _vendored(name: str) -> str:
    lines = _text(_folder() / "vendored" / name).splitlines()
    # A map of the source would be fetched from a place that is not there.
    return "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL"))


def _digests(texts: list[str]) -> str:
    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)


def _folder() -> Traversable:
    return files("topicloom.report") / "page"


def _text(path: Traversable) -> str:
    return path.read_text(encoding="utf-8")
