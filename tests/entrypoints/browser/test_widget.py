"""`<judge-form>` on a page of another origin, which needs only one script tag."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.entrypoints.browser.acting import (
    BOTH,
    CONTEXT,
    QUERY,
    assert_accessible,
    assert_fits,
)
from tests.entrypoints.browser.scripted_line import script_stream
from tests.entrypoints.browser.test_following import (
    BOTH_RIGHT,
    NO,
    OTHER_SIDE,
    PERSONAS,
    VERDICT,
    YES,
)
from tests.entrypoints.browser.visiting import PHONE, Deployment, Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

HOST_PAGE = """<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src {server}; connect-src {server}">
<title>Advice for tenants</title>
<script src="{server}/widget.js" {kind}></script>
</head>
<body><main><h1>Advice</h1><judge-form {attributes}></judge-form></main></body>
</html>"""


async def embed(
    visit: Visit, deployment: Deployment, attributes: str = "", kind: str = "async"
) -> Page:
    """A page of another origin, with a strict content security policy and the widget."""
    deployment.world.gemini.forget()
    page = HOST_PAGE.format(server=deployment.server.url, attributes=attributes, kind=kind)
    deployment.world.site.page("/advice", page)
    await visit.page.goto(f"http://localhost:{deployment.world.site.port}/advice")
    return visit.page


async def ask(page: Page) -> None:
    await page.get_by_label("What happened?").fill(CONTEXT)
    await page.get_by_label("What would you like to know?").fill(QUERY)
    await page.get_by_role("button", name="Ask").press("Enter")


def result(page: Page) -> Locator:
    return page.locator("judge-form #result")


@pytest.mark.parametrize("kind", ["async", 'type="module"'])
async def test_widget_on_another_origin_shows_a_verdict(visit: Visit, embedded_deployment, kind):
    page = await embed(visit, embedded_deployment, kind=kind)
    embedded_deployment.world.gemini.script(BOTH)
    await ask(page)
    await expect(page.get_by_role("heading", name="What we make of it")).to_be_focused()
    await expect(result(page)).to_contain_text("You are not being unreasonable 🙂 [1]")
    await expect(
        result(page).get_by_role("heading", name="Analyst: Partly: you have a point")
    ).to_be_visible()
    rests = result(page).locator("section", has=page.get_by_role("heading", name="What it rests"))
    await expect(rests.get_by_role("link")).to_have_text(
        ["Repairs in rented homes", "Paying the rent"]
    )
    await expect(rests.get_by_role("blockquote").first).to_contain_text("Your landlord has to")
    await expect(result(page).get_by_role("link", name="Paying the rent").last).to_have_attribute(
        "href", embedded_deployment.world.site.url("/rent")
    )


async def test_fields_are_shown_on_arrival_and_stay_after_a_lost_connection(
    visit: Visit, deployment
):
    line = await script_stream(visit.page)
    page = await embed(visit, deployment)
    await ask(page)
    await line.field("paraphrase", "Your boiler is broken.")
    await line.field("personas.0", PERSONAS[0])
    await line.field("personas.1", PERSONAS[1])
    await expect(result(page)).to_contain_text(f"Your boiler is broken.Therapist: {NO}")
    await line.say("restart", {"defects": [], "keeps": ["paraphrase", "personas.1"]})
    await expect(result(page)).to_contain_text(f"Your boiler is broken.Analyst: {NO}")
    await line.field("personas.0", PERSONAS[0] | {"verdict": "Yes"})
    headings = result(page).get_by_role("heading")
    await expect(headings).to_have_text([f"Therapist: {YES}", f"Analyst: {NO}"])
    await line.drop()
    await expect(headings).to_have_text(
        ["The connection broke", f"Therapist: {YES}", f"Analyst: {NO}"], use_inner_text=True
    )


NONSENSE = (
    'event: field\ndata: {"name": "personas.0", "value": null, "citations": []}\n\n',
    'event: verdict\ndata: {"summary": "x"}\n\n',
    "event: field\ndata: {\n\n",
)


@pytest.mark.parametrize("said", NONSENSE)
async def test_invalid_answer_is_reported_at_once(visit: Visit, deployment, said):
    line = await script_stream(visit.page)
    page = await embed(visit, deployment)
    await ask(page)
    await line.asked()
    await page.evaluate("text => window.line.enqueue(new TextEncoder().encode(text))", said)
    await expect(result(page).get_by_role("heading").first).to_be_focused()
    await expect(result(page).get_by_role("heading").first).to_have_text(
        re.compile("The connection broke|The answer cannot be read")
    )
    await expect(page.locator("judge-form [role=status]")).to_have_text("")
    visit.console_errors.clear()


async def test_other_side_is_heard_if_the_site_enables_it(visit: Visit, deployment):
    line = await script_stream(visit.page)
    page = await embed(visit, deployment, "other-side")
    switch = page.get_by_role("switch", name="Hear the other side too")
    await switch.focus()
    await page.keyboard.press("Space")
    await expect(switch).to_be_checked()
    await ask(page)
    assert (await line.asked())["hear_other_side"] is True
    await line.field("summary", "You may ask.")
    await expect(page.locator("judge-form [role=status]")).to_have_text("Hearing the other side…")
    await line.say("verdict", VERDICT | {"other_side": OTHER_SIDE, "warnings": [BOTH_RIGHT]})
    headings = ["What we make of it", "Who can help", "Worth knowing"]
    words = {"No": NO, "Yes": YES, "Partially": "Partly: you have a point, and so do they"}
    voices = [f"{one['name']}: {words[one['verdict']]}" for one in PERSONAS]
    await expect(result(page).get_by_role("heading")).to_have_text(
        [*headings, *voices, "The other side", "What it rests on", "What you can do next"]
    )
    await expect(result(page)).to_contain_text(BOTH_RIGHT)
    await expect(result(page).get_by_role("blockquote").first).to_have_text(OTHER_SIDE["retelling"])
    await assert_accessible(page)


@pytest.mark.parametrize(
    ("attributes", "title"),
    [('key="for-all-to-see"', "What we make of it"), ("", "A key is needed"),
     ('key="an-old-one"', "A key is needed"), ('key="schlüssel 🗝"', "A key is needed"),
     ('key="a&#10;b"', "A key cannot be sent")],
)  # fmt: skip
async def test_key_is_sent_to_a_server_that_requires_one(
    visit: Visit, locked_embedded_deployment, attributes, title
):
    page = await embed(visit, locked_embedded_deployment, attributes)
    await ask(page)
    await expect(page.get_by_role("heading", name=title)).to_be_focused()
    assert "for-all-to-see" not in page.url
    visit.console_errors.clear()


async def test_forbidden_origin_is_explained(visit: Visit, deployment):
    told: list[str] = []
    visit.page.on("console", lambda said: told.append(said.text))
    page = await embed(visit, deployment)
    await ask(page)
    await expect(result(page)).to_contain_text("There is no connection to the service")
    assert deployment.world.gemini.seen == []
    assert any("JUDGE_CORS_ORIGINS" in said for said in told)
    refused, *_ = visit.console_errors
    assert "CORS policy" in refused
    visit.console_errors.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_widget_is_accessible_and_fits_a_phone(visit: Visit, embedded_deployment, scheme):
    await visit.page.emulate_media(color_scheme=scheme)
    await visit.page.set_viewport_size(PHONE)
    page = await embed(visit, embedded_deployment)
    await assert_accessible(page)
    embedded_deployment.world.gemini.script(BOTH)
    await ask(page)
    await expect(result(page)).to_contain_text("You are not being")
    await assert_accessible(page)
    await assert_fits(page)
    ground = await page.locator("judge-form").evaluate("e => getComputedStyle(e).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", ground)[:3])) < 128) == (scheme == "dark")
