"""The measurements of `overhead.py` as a self-contained HTML page with plots."""

import html
import statistics
from collections.abc import Sequence
from itertools import product
from pathlib import Path

COLOURS = {"judge": "#1f6feb", "bare": "#57606a", "fastapi": "#1a7f37", "llamaindex": "#bc4c00"}
FIGURES = (
    ("cpu_ms", False, "CPU, ms a request"),
    ("per_s", False, "Answers a second, model answering at once"),
    ("p50_ms", True, "Median above the model's own time, ms"),
    ("p99_ms", True, "99th percentile above the model's own time, ms"),
)
WIDTH, HEIGHT, BASE = 640, 220, 190
STYLE = "body{font:15px system-ui;max-width:50rem;margin:2rem auto}td,th{padding:.1rem .7rem}"


def write_report(rows: Sequence[dict], path: Path) -> None:
    """Write the page: a plot of each figure, and a table of figures independent of the load."""
    plots = [
        _plot(f"{title}, {kind} disputes", _groups(rows, key, kind, is_paced=is_paced))
        for (key, is_paced, title), kind in product(FIGURES, ("short", "long"))
    ]
    body = "".join([_legend(), *plots, _table(rows)])
    head = f"<meta charset=utf-8><title>What a request costs</title><style>{STYLE}</style>"
    path.write_text(f"<!doctype html><html lang=en>{head}<h1>What a request costs</h1>{body}")


def _groups(
    rows: Sequence[dict], key: str, kind: str, *, is_paced: bool
) -> dict[int, dict[str, list[float]]]:
    """The measured values, by requests in flight and contender."""
    groups: dict[int, dict[str, list[float]]] = {}
    for row in rows:
        if row.get("kind") == kind and row["paced"] == is_paced:
            groups.setdefault(row["in_flight"], {}).setdefault(row["who"], []).append(row[key])
    return groups


def _plot(title: str, groups: dict[int, dict[str, list[float]]]) -> str:
    """Bars of medians with their whole range as a line, grouped by requests in flight."""
    if not groups:
        return ""
    highest = max(max(values) for group in groups.values() for values in group.values()) or 1
    step = WIDTH / len(groups)
    marks = []
    for place, (level, group) in enumerate(groups.items()):
        wide = step * 0.8 / len(group)
        label = f"<text x={place * step + 4:.0f} y={HEIGHT - 8}>{level} in flight</text>"
        marks.append(label)
        for at, (name, values) in enumerate(group.items()):
            middle = statistics.median(values)
            x, y = place * step + at * wide, BASE - 160 * middle / highest
            low, high = (BASE - 160 * edge / highest for edge in (min(values), max(values)))
            centre = x + wide * 0.45
            marks.append(
                f"<rect x={x:.1f} y={y:.1f} width={wide * 0.9:.1f} height={BASE - y:.1f} "
                f'fill="{COLOURS[name]}"><title>{name}</title></rect>'
                f'<path d="M{centre:.1f} {low:.1f}V{high:.1f}" stroke="black"/>'
                f"<text x={x:.1f} y={min(y, high) - 3:.1f}>{middle:.4g}</text>"
            )
    drawn = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" font-size=11 role=img>{"".join(marks)}</svg>'
    return f"<h2>{html.escape(title)}</h2>{drawn}"


def _legend() -> str:
    names = (f'<b style="color:{colour}">■ {name}</b> ' for name, colour in COLOURS.items())
    return f"<p>{''.join(names)}; bars are medians, lines reach from the least to the most.</p>"


def _table(rows: Sequence[dict]) -> str:
    """Start-up time and memory of each contender, at rest and after the load."""
    cells = [
        f"<tr><td>{row['who']}<td>{key}<td>{value}"
        for row in rows if "cpu_ms" not in row
        for key, value in row.items() if key != "who"
    ]  # fmt: skip
    return f"<h2>At rest</h2><table><tr><th>who<th>what<th>{''.join(cells)}</table>"
