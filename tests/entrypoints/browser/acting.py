"""Actions on the page, and the disputes and replies of its tests."""

import json

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Locator, Page

from tests.entrypoints.browser.visiting import MARKUP, REPAIRS
from tests.fakes.gemini import PERSONAS, verdict_for

CONTEXT = "My landlord has not repaired the boiler for three weeks, although I wrote twice."
QUERY = "Am I being unreasonable to ask for a date?"
GOOD = verdict_for(f"<REFERENCES>\n[1] {{1}} {REPAIRS}\n[2] {{1}} {MARKUP}\n</REFERENCES>")
BAD = json.loads(json.dumps(GOOD).replace("[1]", "[7]"))
BOTH = GOOD | {
    "summary": "You are not being unreasonable 🙂 [1], and the rent is due all the same [2].",
    "quotes": [
        {"number": 1, "sentences": [1]},
        {"number": 2, "sentences": [1]},
    ],
}


async def fill(page: Page, context: str = CONTEXT, query: str = QUERY) -> None:
    await page.get_by_label("What happened?").fill(context)
    await page.get_by_label("What would you like to know?").fill(query)


async def ask(page: Page, **words: str) -> None:
    await fill(page, **words)
    await page.get_by_role("button", name="Ask", exact=True).click()


def answer(page: Page) -> Locator:
    return page.get_by_role("heading", name="What we make of it")


def problem(page: Page) -> Locator:
    return page.get_by_role("alert")


async def assert_fits(page: Page) -> None:
    """Nothing is wider than the window."""
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0


async def assert_accessible(page: Page) -> None:
    """Axe finds nothing, by all its rules."""
    results = await Axe().run(page)
    faults = [
        (fault["id"], [node["target"] for node in fault["nodes"]])
        for fault in results.response["violations"]
    ]
    assert faults == []


def event(name: str, data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


OLD_REFERENCE = {
    "number": 1,
    "kind": "passage",
    "url": "javascript:window.broken=1",
    "title": "Deployment rules",
    "text": "Quiet hours — “as agreed” — begin at ten.",
    "fetched_at": "2026-01-01T00:00:00Z",
    "updated": "2025-04-01",
    "stale": True,
    "cited": True,
}
CITATIONS = [
    {"number": 1, "field": "summary", "start": 8, "end": 11, "quote": quote, "support": 0.5}
    | {"quote_status": status, "contradicts": is_turned}
    for quote, status, is_turned in [
        ("hours — “as agreed” — begin at ten.", "verified", True),
        (None, "none", False),
    ]
]
CARED_FOR = {
    "id": "made-up-1",
    "paraphrase": "Somebody is afraid.",
    "summary": "👩🏽‍🦰 Yes[1].",
    "personas": [
        {
            "name": name,
            "verdict": word,
            "rationale": f"So says {name}.",
            "key_points": ["a", "b", "c"],
        }
        for name, word in zip(PERSONAS, ["Yes", "No", "Partially"], strict=True)
    ],
    "domain": "default",
    "domain_scores": [],
    "references": [OLD_REFERENCE],
    "snippets": [],
    "citations": CITATIONS,
    "evidence": "unverified",
    "help": [{"title": "The Night Line", "url": "https://night.example/", "phone": "0800 111 111"}],
    "warnings": [
        "personas.1.rationale (length): expected at most 960 characters",
        "One of 2 pages could not be read and is left out.",
    ],
    "model": "another",
    "degraded": True,
    "attempts": 2,
    "versions": {"prompt": "a", "sources": "b"},
    "usage": {"input_tokens": 1, "output_tokens": 2, "thinking_tokens": 3},
    "timings_ms": {"references": 1.0, "model": 2.0, "total": 3.0},
}
EVENTS = [
    ": still here\n\n" + event("domain", {"domain": "default", "domain_scores": []}),
    event("references", {"references": [OLD_REFERENCE]}),
    event("verdict", CARED_FOR),
]
