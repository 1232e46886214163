"""An answer exported: printed, or saved as a self-contained document without the dispute."""

import re
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.entrypoints.browser.acting import (
    CONTEXT,
    QUERY,
    answer,
    ask,
    assert_accessible,
    assert_fits,
)
from tests.entrypoints.browser.scripted_line import script_stream
from tests.entrypoints.browser.test_following import BOTH_RIGHT, NO, OTHER_SIDE, VERDICT
from tests.entrypoints.browser.visiting import PHONE, Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

MARKUP = "<img src=x onerror=window.broken=1> [now](https://evil.example) *a* `b`"
TOLD = VERDICT | {
    "paraphrase": MARKUP,
    "other_side": OTHER_SIDE,
    "warnings": [BOTH_RIGHT],
    "next_steps": [
        {"title": "Rent] <i>now</i>", "url": "https://advice.example/2?a=(b)"},
        {"title": "Not to be followed", "url": "javascript:window.broken=1"},
    ],
}


@pytest_asyncio.fixture(loop_scope="session")
async def told(visit: Visit) -> Page:
    """The page with a complete answer."""
    line = await script_stream(visit.page)
    page = await visit.open()
    await ask(page)
    await line.say("verdict", TOLD)
    await expect(answer(page)).to_be_focused()
    return page


async def saved(page: Page, button: str, folder: Path) -> Path:
    """The document that *button* saves."""
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name=button).click()
    download = await waiting.value
    assert re.fullmatch(r"judge-\d{4}-\d\d-\d\d\.(html|md)", download.suggested_filename)
    path = folder / download.suggested_filename
    await download.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert CONTEXT not in text
    assert QUERY not in text
    return path


async def test_html_export_needs_no_network_and_no_script(told: Page, tmp_path):
    path = await saved(told, "Download as HTML", tmp_path)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|button|form)\b", text)
    page = await told.context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    await page.goto(path.as_uri())
    await expect(page.get_by_role("heading", level=1)).to_have_text("Am I being unreasonable?")
    await expect(page.locator(".retold")).to_have_text(MARKUP)
    await expect(page.locator(".banner")).to_have_text(BOTH_RIGHT)
    await page.get_by_role("link", name="2", exact=True).click()
    await expect(page).to_have_url(re.compile("#reference-2$"))
    await expect(page.locator("#reference-2 mark")).to_have_text("begin at ten.")
    assert requests == [path.as_uri()]
    assert await page.evaluate("getComputedStyle(document.querySelector('.persona')).display") == (
        "grid"
    )
    await assert_accessible(page)
    await page.set_viewport_size(PHONE)
    await assert_fits(page)


async def test_markdown_export_escapes_markup(told: Page, tmp_path):
    text = (await saved(told, "Download as Markdown", tmp_path)).read_text(encoding="utf-8")
    assert (
        r"\<img src=x onerror=window.broken=1\> \[now\](https://evil.example) \*a\* \`b\`" in text
    )
    assert r"- Read: [Rent\] \<i\>now\</i\>](<https://advice.example/2?a=(b)>)" in text
    assert "- Read: Not to be followed\n" in text
    assert text.startswith(
        f"# Am I being unreasonable?\n\n## Worth knowing\n\n- {BOTH_RIGHT}\n\n## Who can help\n\n"
        "- [The Night Line](<https://night.example/>), 0800 111 111\n"
    )
    assert f"### Analyst: {NO}\n\nHe has to. \\[2\\]\n\n- a\n- b\n- c\n" in text
    assert "\\[2\\] [Paying the rent](<https://advice.example/2>): “Quiet hours" in text
    assert "## The other side\n\nI own the flat" in text


async def test_print_shows_the_answer_without_controls(told: Page):
    await told.emulate_media(media="print", color_scheme="dark")
    for gone in ("header", "#dispute", ".share", "#unused", "#forget-key"):
        await expect(told.locator(gone)).to_be_hidden()
    await expect(told.locator(".persona")).to_have_count(3)
    await expect(told.locator(".persona").last).to_be_visible()
    address = "getComputedStyle(document.querySelector('#reference-2 a'), '::after').content"
    assert "https://advice.example/2" in await told.evaluate(address)
    ground = await told.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert (await told.pdf()).startswith(b"%PDF")
