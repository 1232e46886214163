"""A stream whose events a test sends one by one, in place of the server."""

from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page

from tests.entrypoints.browser.acting import event

REPLACE_FETCH = """
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
class ScriptedStream:
    """The stream that *page* reads: events sent here arrive as from a server."""

    page: Page

    async def asked(self) -> dict[str, Any]:
        """The body of the page's request; waits until it was sent."""
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


async def script_stream(page: Page) -> ScriptedStream:
    """Answer the page's requests for judgements with events from the test."""
    await page.add_init_script(REPLACE_FETCH)
    return ScriptedStream(page)
