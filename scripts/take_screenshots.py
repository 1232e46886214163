"""Write docs/screenshots/*.png: the playground with a made-up dispute, in Chromium.

Run it as `python -m scripts.take_screenshots` after the page has changed. A real server runs on
this machine with stand-ins for the model and the pages, so that the pictures stay the same.
"""

import base64
import json
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.entrypoints.browser.acting import event
from tests.entrypoints.browser.scripted_line import REPLACE_FETCH
from tests.entrypoints.browser.visiting import FLAGS, write_sources
from tests.entrypoints.running_server import World, open_world

TARGET = Path(__file__).parent.parent / "docs" / "screenshots"
TOKENS_PER_S = 60
CHARACTERS_PER_TOKEN = 4
FIRST_TOKEN_S = 0.4
"""The output speed of an average model in English, and its time to first token."""

COLOURS = 64
"""Enough for text on a plain background, with a quarter of the bytes."""

RENT = (
    "You should go on paying the rent while you wait for the repair to be done, because you "
    "could be evicted if you stop. If you paid for a repair yourself, keep every receipt."
)
REPLY = {
    "paraphrase": (
        "Your flat has had no heating or hot water for three weeks. You told your landlord in "
        "writing at once; he says that he is busy and that an electric heater will do."
    ),
    "personas": [
        {
            "name": "Therapist",
            "verdict": "No",
            "rationale": (
                "Three weeks in the cold wear anybody down, and being told that a heater will do "
                "makes it worse. Asking for warmth at home is a plain need."
            ),
            "key_points": [
                "Your worry is in proportion.",
                "Say what the cold does to your days.",
                "You may be firm and polite at once.",
            ],
        },
        {
            "name": "Analyst",
            "verdict": "No",
            "rationale": (
                "A landlord has to keep the boiler in working order and must start within a "
                "reasonable time of being told; no heating in winter counts as urgent [1]. You "
                "told him in writing three weeks ago."
            ),
            "key_points": [
                "He was told, in writing, on day one.",
                "A heater does not replace hot water.",
                "Your rent is paid, so nothing is owed.",
            ],
        },
        {
            "name": "Coach",
            "verdict": "Partially",
            "rationale": (
                "You are right to ask, and a date will get you further than another complaint. "
                "Go on paying the rent while you wait; stopping could cost you your home [2]."
            ),
            "key_points": [
                "Write once more and ask for a date.",
                "Keep copies, photos and receipts.",
                "Ask the council if the date passes.",
            ],
        },
    ],
    "summary": (
        "You are not being unreasonable. Your landlord must start repairs within a reasonable "
        "time, and in winter that is soon [1]. Ask in writing for a date, and go on paying the "
        "rent while you wait [2]."
    ),
    "quotes": [
        {"number": 1, "sentences": [1, 2]},
        {"number": 2, "sentences": [1]},
    ],
    "references_help": True,
}

REDUCE = """
async ([picture, colours]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(
    context.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, colours).map(([c]) => c);
  const parts = (c) => [c & 255, (c >> 8) & 255, (c >> 16) & 255];
  const rgb = palette.map(parts);
  const nearest = new Map();
  for (const pixel of counts.keys()) {
    const [r, g, b] = parts(pixel);
    const far = rgb.map(([x, y, z]) => (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2);
    nearest.set(pixel, far.indexOf(Math.min(...far)));
  }
  const indices = Uint8Array.from(pixels, (pixel) => nearest.get(pixel));
  let text = "";
  for (let i = 0; i < indices.length; i += 32768) {
    text += String.fromCharCode(...indices.subarray(i, i + 32768));
  }
  return [image.width, image.height, rgb.flat(), btoa(text)];
}
"""
"""The picture as indices of its most frequent colours; the browser decodes it."""


@dataclass(frozen=True)
class View:
    """One picture: its name, and the state of the page."""

    name: str
    scheme: str
    width: int
    height: int
    is_answered: bool
    after_s: float = 0.0
    """Seconds after the start of a streamed answer, if not 0."""


VIEWS = (
    View("form", "light", 1280, 860, is_answered=False),
    View("after-1-second", "light", 1280, 800, is_answered=False, after_s=1),
    View("after-3-seconds", "light", 1280, 800, is_answered=False, after_s=3),
    View("after-10-seconds", "light", 1280, 800, is_answered=False, after_s=10),
    View("verdict", "light", 1280, 1000, is_answered=True),
    View("verdict-phone-dark", "dark", 390, 1000, is_answered=True),
)


def main() -> None:
    """Write all pictures."""
    TARGET.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as directory,
        open_world(Path(directory)) as world,
        sync_playwright() as playwright,
    ):
        write_sources(world)
        dated = '<head><meta name="dcterms.modified" content="2025-04-01"></head>'
        page = f"<html>{dated}<body><main><h1>Rent</h1><p>{RENT}</p></main></body></html>"
        world.site.page("/rent", page)
        with world.server() as server:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=FLAGS
            )
            for view in VIEWS:
                picture = take(browser, view, world, server.url)
                (TARGET / f"{view.name}.png").write_bytes(picture)
            browser.close()


def take(browser: Browser, view: View, world: World, url: str) -> bytes:
    """The picture of *view* as a small PNG."""
    page = browser.new_page(
        viewport={"width": view.width, "height": view.height},
        color_scheme=view.scheme,
        reduced_motion="reduce",
    )
    if view.after_s:
        page.add_init_script(REPLACE_FETCH)
        page.clock.install()
    page.goto(url)
    page.get_by_role("button", name="The boiler").click()
    if view.after_s:
        follow(page, world, url, view.after_s)
    elif view.is_answered:
        answer(page, world)
    else:
        page.evaluate("scrollTo(0, 0)")
    picture = smaller(page.context.browser.new_page(), page.screenshot())
    page.close()
    return picture


def answer(page: Page, world: World) -> None:
    """Send the dispute, and highlight the first citation."""
    world.gemini.script(REPLY)
    page.get_by_role("button", name="Ask", exact=True).click()
    heading = page.get_by_role("heading", name="What we make of it")
    expect(heading).to_be_focused()
    page.locator(".summary .cite").first.click()
    page.evaluate("document.getElementById('verdict-title').scrollIntoView()")


def follow(page: Page, world: World, url: str, after_s: float) -> None:
    """Send the dispute, and stop the page's clock *after_s* into an answer at a model's speed."""
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 1)
    page.get_by_role("button", name="Ask", exact=True).click()
    world.gemini.script(REPLY)
    reply = httpx.post(f"{url}/api/judge/stream", json=page.evaluate("window.asked"), timeout=60)
    events = [block.split("\n") for block in reply.text.split("\n\n") if block.startswith("event")]
    steps = {name.removeprefix("event: "): json.loads(data[6:]) for name, data in events}
    shown_s = 0.0
    for at_s, name, data in paced(steps):
        if at_s > after_s:
            break
        page.clock.run_for(round((at_s - shown_s) * 1000))
        shown_s = at_s
        page.evaluate(
            "text => window.line.enqueue(new TextEncoder().encode(text))", event(name, data)
        )
        # The page reads the stream asynchronously.
        page.wait_for_timeout(50)
    # And the time until the page's own clock shows it.
    page.clock.run_for(round((after_s - shown_s) * 1000) + 250)


def paced(steps: dict[str, Any]) -> Iterator[tuple[float, str, Any]]:
    """The time of each step in seconds: those before the model at once, fields as written."""
    for name in ("domain", "references", "attempt"):
        yield 0.1, name, steps[name]
    verdict = steps["verdict"]
    personas = [(f"personas.{i}", one) for i, one in enumerate(verdict["personas"])]
    tokens = 0.0
    for name, value in [
        ("paraphrase", verdict["paraphrase"]),
        *personas,
        ("summary", verdict["summary"]),
    ]:
        tokens += len(json.dumps(value)) / CHARACTERS_PER_TOKEN
        citations = [one for one in verdict["citations"] if one["field"].startswith(name)]
        data = {"name": name, "value": value, "citations": citations}
        yield FIRST_TOKEN_S + tokens / TOKENS_PER_S, "field", data
    yield FIRST_TOKEN_S + tokens / TOKENS_PER_S + 0.1, "verdict", verdict


def smaller(page: Page, picture: bytes) -> bytes:
    """*picture* reduced to its most frequent colours."""
    text = base64.b64encode(picture).decode()
    width, height, palette, indices = page.evaluate(REDUCE, [text, COLOURS])
    page.close()
    return encode_png(width, height, bytes(palette), base64.b64decode(indices))


def encode_png(width: int, height: int, palette: bytes, indices: bytes) -> bytes:
    """A PNG of *indices* into *palette*, one byte for each pixel."""
    rows = b"".join(b"\0" + indices[y * width : (y + 1) * width] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [
        (b"IHDR", header),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


if __name__ == "__main__":
    main()
