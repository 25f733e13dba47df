"""Draw the README's picture as SVG on stdout: a ring per topic and the overlay of gm for one interest."""

from math import cos, pi, sin

import topicloom
from topicloom import Interest, Overlay

COLORS = {"temperature": "#D55E00", "smoke": "#0072B2", "energy": "#009E73", "motion": "#CC79A7"}
WANTS = {
    "kitchen": ["temperature", "smoke", "energy"],
    "hall": ["smoke", "motion"],
    "attic": ["temperature", "smoke"],
    "garage": ["smoke", "energy", "motion"],
    "cellar": ["temperature", "energy"],
    "office": ["temperature", "smoke", "energy"],
    "porch": ["smoke", "motion"],
}
WIDTH, HEIGHT, RADIUS = 420, 330, 115


def panel(left: int, title: str, overlay: Overlay) -> list[str]:
    """Return one drawing: edges in the colours of the topics they carry, nodes with a dot per topic."""
    names = overlay.node_ids.to_pylist()
    centre_x, centre_y = left + WIDTH // 2, 185
    places = {}
    for number, name in enumerate(names):
        angle = 2 * pi * number / len(names) - pi / 2
        places[name] = (centre_x + 1.25 * RADIUS * cos(angle), centre_y + RADIUS * sin(angle))
    parts = [f'<text x="{centre_x}" y="26" class="title">{title}</text>']
    for u, v in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True):
        (x1, y1), (x2, y2) = places[names[u]], places[names[v]]
        shared = [topic for topic in COLORS if topic in WANTS[names[u]] and topic in WANTS[names[v]]]
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        for place, topic in enumerate(shared):
            shift = 3.5 * (place - (len(shared) - 1) / 2)
            dx, dy = -(y2 - y1) / length * shift, (x2 - x1) / length * shift
            line = f'x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 + dx:.1f}" y2="{y2 + dy:.1f}"'
            parts.append(f'<line {line} stroke="{COLORS[topic]}" stroke-width="2.5"/>')
    for name, (x, y) in places.items():
        parts.append(f'<rect x="{x - 33:.1f}" y="{y - 17:.1f}" width="66" height="36" rx="8" class="node"/>')
        parts.append(f'<text x="{x:.1f}" y="{y - 2:.1f}" class="name">{name}</text>')
        for place, topic in enumerate(WANTS[name]):
            dot_x = x + 13 * (place - (len(WANTS[name]) - 1) / 2)
            parts.append(f'<circle cx="{dot_x:.1f}" cy="{y + 9:.1f}" r="4.5" fill="{COLORS[topic]}"/>')
    return parts


def main() -> None:
    """Build both overlays and print the drawing."""
    interest = Interest.from_pairs([(node, topic) for node, topics in WANTS.items() for topic in topics])
    drawn = []
    for place, (algorithm, what) in enumerate((("ring-pt", "a ring per topic"), ("gm", "topicloom, gm"))):
        overlay = topicloom.build(interest, algorithm=algorithm).overlay
        degrees = overlay.degrees()
        title = f"{what}: {overlay.n_edges} connections, at most {degrees.max()} per node"
        drawn += panel(place * WIDTH, title, overlay)
    for place, (topic, color) in enumerate(COLORS.items()):
        x = WIDTH - 200 + 110 * place
        drawn.append(f'<circle cx="{x}" cy="{HEIGHT + 12}" r="5" fill="{color}"/>')
        drawn.append(f'<text x="{x + 10}" y="{HEIGHT + 16}" class="legend">{topic}</text>')
    style = (
        "text{font-family:sans-serif;fill:#222}.title{font-size:14px;text-anchor:middle;font-weight:bold}"
        ".name{font-size:12px;text-anchor:middle}.legend{font-size:13px}.node{fill:#fff;stroke:#555}"
    )
    size = f'width="{2 * WIDTH}" height="{HEIGHT + 30}" viewBox="0 0 {2 * WIDTH} {HEIGHT + 30}"'
    background = f'<rect width="{2 * WIDTH}" height="{HEIGHT + 30}" fill="#fff"/>'
    print(f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{style}</style>{background}')
    print("\n".join(drawn))
    print("</svg>")


if __name__ == "__main__":
    main()
