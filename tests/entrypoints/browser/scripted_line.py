"""A stream whose events a test says one by one, in the place of the server's."""

from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page

from tests.entrypoints.browser.acting import event

TAKE_THE_LINE = """
const send = window.fetch;
window.fetch = (url, options) => {
  if (!String(url).endsWith("/api/judge/stream")) return send(url, options);
  window.asked = JSON.parse(options.body);
  const body = new ReadableStream({ start: (line) => { window.line = line; } });
  options.signal?.addEventListener("abort", () => window.line.error(options.signal.reason));
  return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
};
"""


@dataclass(frozen=True)
class ScriptedLine:
    """The line to *page*: what is said on it arrives as it would from a server."""

    page: Page

    async def asked(self) -> dict[str, Any]:
        """The dispute, once there is one."""
        await self.page.wait_for_function("window.line")
        return await self.page.evaluate("window.asked")

    async def say(self, name: str, data: object) -> None:
        await self.asked()
        await self.page.evaluate(
            "text => window.line.enqueue(new TextEncoder().encode(text))", event(name, data)
        )

    async def field(self, name: str, value: object, citations: list[Any] | None = None) -> None:
        await self.say("field", {"name": name, "value": value, "citations": citations or []})

    async def drop(self) -> None:
        await self.page.evaluate("window.line.error(new TypeError('network error'))")


async def take_the_line(page: Page) -> ScriptedLine:
    """From now on the page's judgements are told by the test."""
    await page.add_init_script(TAKE_THE_LINE)
    return ScriptedLine(page)
