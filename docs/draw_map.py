"""Print docs/map.svg: the packages of src/topicloom as layers, each folder with what its `__init__.py` says.

python docs/draw_map.py > docs/map.svg
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from html import escape
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "topicloom"
# Imports go downwards only; packages side by side do not import each other (pyproject.toml has the rules).
LAYERS = [
    ["cli", "api"],
    ["report", "experiments"],
    ["spidercast", "content", "mesh"],
    ["overlay"],
    ["simulation", "wire", "tables"],
    ["base"],
]
WIDTH, GAP, PAD, LINE = 1000, 14, 12, 15
STYLE = (
    "text{font-family:sans-serif;font-size:12px;fill:#222}.name{font-weight:bold;font-size:14px}"
    ".folder{font-family:monospace;font-weight:bold}.box{fill:#f4f6f8;stroke:#8aa}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.box{fill:#22282e;stroke:#567}}"
)


def caption(package: Path) -> str:
    """Return the first sentence of a package's docstring, without the papers it cites."""
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    sentence = re.split(r"(?<=\w)\.\s|\n\n|Where to look", text.replace("\n", " ", 1))[0]
    return re.sub(r" \[[^]]*\]", "", sentence).replace("`", "").strip().rstrip(".:,")


def folders(package: Path) -> list[Path]:
    """Return the packages directly inside a package: who may import first, who is imported last."""
    order = {"jobs": 0, "spark": 1, "kernels": 3, "model": 4}
    inner = (path.parent for path in package.glob("*/__init__.py"))
    return sorted(inner, key=lambda path: (order.get(path.name, 2), path.name))


def lines_of(name: str, width: int) -> list[tuple[str, str]]:
    """Return the lines of a box as (class, text)."""
    package = SOURCE / name
    fit = int((width - 2 * PAD) / 6.3)  # letters of 12 px
    lines = [("name", name)] + [("", line) for line in textwrap.wrap(caption(package), fit)]
    for folder in folders(package):
        first, *more = textwrap.wrap(f"{folder.name}/  {caption(folder)}", fit)
        lines += [("folder", first)] + [("", f"      {line}") for line in more]
    return lines


def draw() -> str:
    """Return the picture."""
    parts, top = [], 0
    for layer in LAYERS:
        width = (WIDTH - GAP * (len(layer) - 1)) // len(layer)
        columns = [lines_of(name, width) for name in layer]
        height = max(map(len, columns)) * LINE + 2 * PAD
        for number, lines in enumerate(columns):
            left = number * (width + GAP)
            parts.append(f'<rect class="box" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>')
            for row, (kind, text) in enumerate(lines):
                parts.append(_line(left + PAD, top + PAD + LINE * row + 11, kind, text))
        top += height + GAP
    size = f'viewBox="-1 -1 {WIDTH + 2} {top - GAP + 2}"'
    title = "<title>The packages of topicloom: each imports only from those below it</title>"
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{title}<style>{STYLE}</style>\n{body}\n</svg>\n'


def _line(x: int, y: int, kind: str, text: str) -> str:
    folder, _, rest = text.partition("  ") if kind == "folder" else ("", "", text)
    named = f'<tspan class="folder">{escape(folder)}</tspan>  ' if folder else ""
    style = ' class="name"' if kind == "name" else ""
    return f'<text x="{x}" y="{y}"{style} xml:space="preserve">{named}{escape(rest)}</text>'


if __name__ == "__main__":
    sys.stdout.write(draw())
