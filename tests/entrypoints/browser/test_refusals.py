"""The page explains errors in plain words."""

import json

import pytest
from playwright.async_api import expect

from tests.entrypoints.browser.acting import (
    BAD,
    GOOD,
    answer,
    ask,
    assert_accessible,
    problem,
)
from tests.entrypoints.browser.visiting import Visit
from tests.fakes.gemini import blocked, slow

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_missing_field_is_reported_beside_it(visit: Visit):
    page = await visit.open()
    await ask(page, context="Too short", query="")
    field = page.get_by_label("What happened?")
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(page.locator("#context-error")).to_contain_text("at least 10 characters")
    await expect(page.locator("#query-error")).to_have_text("Please fill this in.")
    await ask(page, query="q" * 1001)
    await expect(page.locator("#context-error")).to_be_hidden()
    await expect(page.locator("#query-error")).to_contain_text("1000 can be read")
    assert visit.gemini.seen == []


async def test_error_of_the_server_is_reported_beside_its_field(visit: Visit):
    page = await visit.open()
    await page.route(
        "**/api/judge/stream",
        lambda route: route.fulfill(
            status=400,
            content_type="application/problem+json",
            json={
                "type": "/problems/invalid-request",
                "errors": [{"field": "query", "message": "must not hold NUL characters"}],
            },
        ),
    )
    await ask(page)
    await expect(page.locator("#query-error")).to_have_text("This must not hold NUL characters.")
    await expect(page.get_by_label("What would you like to know?")).to_be_focused()


async def test_invalid_scope_is_explained(visit: Visit):
    page = await visit.open()
    await page.get_by_text("More options").click()
    await page.get_by_label("Also read your documents in").fill("@nonsense:x")
    await ask(page)
    await expect(problem(page)).to_contain_text("That limit cannot be used")


async def test_invalid_reply_is_explained_with_a_retry(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BAD, BAD, GOOD)
    await ask(page)
    await expect(problem(page)).to_contain_text("The answer did not pass our checks")
    await problem(page).get_by_text("What was wrong with it").click()
    await expect(problem(page)).to_contain_text(
        "The summary cites something that is not there; it may only cite a number from 1 to 2"
    )
    await expect(problem(page).locator(".defects li")).to_have_count(4)
    await problem(page).get_by_role("button", name="Try again").click()
    await expect(answer(page)).to_be_focused()


async def test_blocked_dispute_shows_help_lines(visit: Visit):
    page = await visit.open()
    visit.gemini.script(blocked())
    await ask(page)
    await expect(problem(page)).to_contain_text("it says nothing about you")
    await expect(problem(page).get_by_role("link", name="0800 000 000")).to_have_attribute(
        "href", "tel:0800000000"
    )
    await expect(problem(page).get_by_role("button", name="Try again")).to_have_count(0)


async def test_key_is_requested_and_stored_for_the_tab_only(visit: Visit, locked_deployment):
    page = await visit.open(deployment=locked_deployment)
    await ask(page)
    key = page.get_by_label("API key")
    await expect(key).to_be_focused()
    await assert_accessible(page)
    for wrong in ("wrong", "schlüssel 🗝", "a\0b"):
        await key.fill(wrong)
        await page.get_by_role("button", name="Use this key").click()
        await expect(page.get_by_role("heading", name="That key was not accepted")).to_be_visible()
        await expect(key).to_have_value("")
    await key.fill("open-sesame")
    await key.press("Enter")
    await expect(answer(page)).to_be_focused()
    await expect(page.locator(".banner")).to_contain_text("No language model has judged this")
    await expect(page.locator(".word")).to_have_text(["No verdict"] * 3)
    await expect(page.get_by_label("What it is about")).to_contain_text("Renting a home")
    assert await page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 1]
    await page.get_by_role("button", name="Copy as a curl command").click()
    await expect(page.locator("#curl")).not_to_contain_text("open-sesame")
    await expect(page.locator("#curl")).to_contain_text("Bearer $JUDGE_API_KEY")
    other = await page.context.new_page()
    await other.goto(page.url)
    assert await other.evaluate("sessionStorage.length") == 0
    await page.get_by_role("button", name="Forget the API key").click()
    assert await page.evaluate("sessionStorage.length") == 0


async def test_key_is_kept_in_memory_without_storage(visit: Visit, locked_deployment):
    refusal = "{ get() { throw new DOMException('Access is denied.', 'SecurityError'); } }"
    await visit.page.add_init_script(f"Object.defineProperty(window, 'sessionStorage', {refusal})")
    page = await visit.open(deployment=locked_deployment)
    await ask(page)
    await page.get_by_label("API key").fill("clé 🗝")
    await page.get_by_role("button", name="Use this key").click()
    await expect(answer(page)).to_be_focused()
    await page.get_by_role("button", name="Forget the API key").click()
    await ask(page)
    await expect(page.get_by_label("API key")).to_be_focused()


@pytest.mark.parametrize(
    ("signal", "thrown"),
    [
        ("AbortSignal.abort()", "AbortError"),
        ("AbortSignal.timeout(1)", "TimeoutError"),
        ("AbortSignal.abort(new RangeError('enough'))", "RangeError"),
    ],
)
async def test_client_throws_the_reason_of_an_abort(visit: Visit, signal, thrown):
    page = await visit.open()
    visit.gemini.script(slow(json.dumps(GOOD), 20))
    names = await page.evaluate(f"""async () => {{
        const {{ judge, judgeInSteps }} = await import("/playground/client.js");
        const dispute = {{ context: "My landlord is silent.", query: "Am I wrong?" }};
        const names = [await judge(dispute, {{ signal: {signal} }}).catch(({{ name }}) => name)];
        const controller = new AbortController();
        try {{
            for await (const _ of judgeInSteps(dispute, {{ signal: controller.signal }})) {{
                const given = {signal};
                given.onabort = () => controller.abort(given.reason);
                if (given.aborted) given.onabort();
            }}
        }} catch ({{ name }}) {{
            names.push(name);
        }}
        return names;
    }}""")
    assert names == [thrown, thrown]


async def test_offline_is_reported(visit: Visit):
    page = await visit.open()
    await page.context.set_offline(True)
    await ask(page)
    await expect(problem(page)).to_contain_text("There is no connection to the service")
