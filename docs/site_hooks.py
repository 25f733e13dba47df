"""What the site takes from the rest of the repository: README as its home, examples, results, options.

Pages link to files of the repository as they lie there, so that the links also work without the site.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import ModuleType
from typing import Any

import typer.main
from griffe import Docstring, Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*https?://[^>]*>")  # not the links a reader follows
LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<path>[^()#:\s]+)(?P<anchor>(?:#[^()\s]*)?)\)")
GUIDE = "CONTRIBUTING.md"
HOME = "index.md"  # README.md
LIVE = "demo-report.html"  # a whole report, made by the code that it is about
BLOCK = re.compile(r"^(?:>>> .*(?:\n\S.*|\n +\S.*)*|(?:\w+/? {2,}\S.*(?:\n|\Z))+)", re.MULTILINE)
COMMANDS = "<!-- commands -->"  # the place of the options in commands.md
MEASURES = "<!-- measures -->"  # the place of the registry in measures.md


class FencedBlocks(Extension):
    """Show doctests and aligned lists of docstrings as they stand in the source, and constants at all."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.is_attribute and obj.parent and obj.parent.is_module and not obj.docstring:
            obj.docstring = Docstring(f"Defined in `{obj.parent.path}`.", parent=obj)
        if obj.docstring:
            obj.docstring.value = BLOCK.sub(r"\n```python\n\g<0>\n```\n", obj.docstring.value)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the guide for contributors to the navigation if there is one."""
    if (ROOT / GUIDE).exists() and config.nav:
        config.nav.append({"Contributing": GUIDE})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages link to."""
    outside = ["CHANGELOG.md", GUIDE, "LICENSE", "benchmarks/RESULTS.md"]
    outside += [str(path.relative_to(ROOT)) for path in sorted((ROOT / "examples").glob("*.py"))]
    for name in outside:
        if (ROOT / name).exists():
            files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, LIVE, content=_live_report()))
    files.append(File.generated(config, HOME, abs_src_path=str(ROOT / "README.md")))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at the places that files have in the site, and fill in what the code knows."""
    base = ROOT if page.file.src_uri in (HOME, "CHANGELOG.md", GUIDE) else ROOT / "docs"

    def link(found: re.Match[str]) -> str:
        """Return the link as the site needs it; of a file that the site does not have, only the text."""
        place = (base / found["path"]).resolve()
        if not place.exists() or not place.is_relative_to(ROOT):
            return found[0]
        name = str(place.relative_to(ROOT))
        name = HOME if name == "README.md" else name.removeprefix("docs/")
        depth = "../" * page.file.src_uri.count("/")
        return (
            f"[{found['text']}]({depth}{name}{found['anchor']})" if name in files.src_uris else found["text"]
        )

    markdown = LINK.sub(link, markdown)
    for mark, text in ((COMMANDS, _commands), (MEASURES, _measures)):
        markdown = markdown.replace(mark, text()) if mark in markdown else markdown
    return markdown


def _live_report() -> str:
    """Return the report of the demo's builders on its real table."""
    return str(run_path(str(ROOT / "docs" / "docs_figures.py"))["demo_page"]())


def _measures() -> str:
    """Return the table of all measures and the keys that each promises."""
    from topicloom.overlay.measures.registry import MEASURES as ENTRIES

    rows = [
        f"| `{name}` | {measure.aim} | {', '.join(f'`{figure.key}`' for figure in measure.figures)} |"
        for name, measure in ENTRIES.items()
    ]
    return "\n".join(["| measure | what it tells | keys |", "|---|---|---|", *rows])


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page loads something from the network, names this machine, or misses a public name."""
    for path in Path(config.site_dir).rglob("*.html"):
        page = path.read_text()
        if loaded := LOADED.search(page):
            raise PluginError(f"{path.name} needs a network: {loaded[0]}")
        if str(ROOT) in page:
            raise PluginError(f"{path.name} names a folder of this machine")
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        facade = page.read_text().split("::: ")[1].strip()
        shown = (Path(config.site_dir) / "api" / f"{page.stem}.html").read_text()
        module = import_module(facade)
        for name in module.__all__:
            own_page = isinstance(getattr(module, name), ModuleType) and (page.parent / f"{name}.md").exists()
            if name != "__version__" and not own_page and f'id="{facade}.{name}"' not in shown:
                raise PluginError(f"{page.name} does not show {facade}.{name}")


def _commands() -> str:
    """Return the tables of all commands; option groups of several commands stand once, at the end."""
    from topicloom.cli.main import app

    commands = dict(_commands_of(typer.main.get_command(app), "topicloom"))
    if not commands:
        raise PluginError("the command line has no commands")
    users = Counter(panel for command in commands.values() for panel in _panels(command) if panel)
    shared = {
        panel: rows for one in commands.values() for panel, rows in _panels(one).items() if users[panel] > 2
    }
    lines = []
    for path, command in commands.items():
        panels = _panels(command)
        own = [row for panel, rows in sorted(panels.items()) if panel not in shared for row in rows]
        also = ", ".join(f"[{panel}](#{_anchor(panel)})" for panel in panels if panel in shared)
        lines += [f"## {path}", "", re.sub(r"\[/?(?:bold|dim|italic)\]", "", command.help or "").strip(), ""]
        lines += [*_table(own), f"Shared options: {also}." if also else "", ""]
    lines += ["## Shared options", ""]
    for panel, rows in shared.items():
        lines += [f"### {panel} {{ #{_anchor(panel)} }}", "", *_table(rows)]
    return "\n".join(lines)


def _commands_of(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in command.commands:
        yield from _commands_of(command.load(name), f"{path} {name}")


def _panels(command: Any) -> dict[str, list[str]]:
    """Return the rows of a command by the heading under which its help shows them."""
    panels: dict[str, list[str]] = {}
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            panels.setdefault(parameter.rich_help_panel or "", []).append(_row(parameter))
    return panels


def _row(parameter: Any) -> str:
    shown = ", ".join([*parameter.opts, *parameter.secondary_opts])
    flag = getattr(parameter, "is_flag", False)
    if parameter.param_type_name == "argument":
        shown = parameter.metavar or shown.upper()
    elif not flag:
        shown += f" {parameter.metavar or parameter.name.split('_')[-1].upper()}"
    default = "" if flag or parameter.default in (None, (), [], "") else f"`{parameter.default}`"
    cells = (f"`{shown}`", parameter.help or "", default)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _table(rows: list[str]) -> list[str]:
    return ["| argument or option | meaning | default |", "|---|---|---|", *rows, ""] if rows else []


def _anchor(panel: str) -> str:
    return "options-" + re.sub(r"[^a-z]+", "-", panel.lower()).strip("-")
