"""A dispute in Arabic stands on its own side of the page, and the page's English on the other."""

import pytest
from playwright.async_api import expect

from tests.entrypoints.browser.acting import assert_accessible, assert_fits
from tests.entrypoints.browser.visiting import PHONE, Visit
from tests.fakes.gemini import PERSONAS

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TOLD = "أخبرت المالك قبل ثلاثة أسابيع أن الغلاية معطلة وما زال البيت باردا."
ASKED = "هل أنا غير معقول؟"
ROWS = (
    "الإيجار مدفوع والعقد يوجب الإصلاح خلال مدة معقولة.",
    "من الطبيعي أن تتعب من البرد بعد كل هذا الوقت.",
    "اكتب له رسالة قصيرة وحدد موعدا واضحا للرد.",
)
REPLY = {
    "paraphrase": "بيتك بارد منذ ثلاثة أسابيع.",
    "care": [],
    "personas": [
        {
            "name": name,
            "verdict": "No",
            "headline": "من حقك أن تطلب الإصلاح",
            "rationale": row,
            "key_points": ["اكتب اليوم", "احتفظ بالنسخ", "حدد موعدا"],
        }
        for name, row in zip(PERSONAS, ROWS, strict=True)
    ],
    "summary": "لست غير معقول في طلبك.",
    "references_help": False,
    "quotes": [],
}


async def test_texts_of_the_person_and_the_model_run_from_right_to_left(visit: Visit):
    page = await visit.open()
    visit.gemini.script(REPLY)
    await page.locator("#context").fill(TOLD)
    await page.locator("#query").fill(ASKED)
    await page.get_by_role("button", name="Ask", exact=True).click()
    await expect(page.locator(".summary")).to_have_text(REPLY["summary"])
    for text in ("#context", "#query", ".retold", ".summary p", ".headline", ".points li"):
        await expect(page.locator(text).first).to_have_css("direction", "rtl")
    await expect(page.locator(".word").first).to_have_css("direction", "ltr")
    await page.set_viewport_size(PHONE)
    await assert_fits(page)
    await assert_accessible(page)
