"""All that an approved page says, for whoever holds a text against it."""

from collections.abc import Sequence

from judge.judging.pages.page_records import PageContent, SnippetRequest
from judge.judging.pages.retriever import SnippetRetriever
from judge.types.references import Snippet


async def read_whole_pages(
    requests: Sequence[SnippetRequest], retriever: SnippetRetriever
) -> list[str | None]:
    """The text of each page, a paragraph for each passage; None where it cannot be had.

    From the cache where that is fresh, as for a judgement.
    """
    pages = await retriever.retrieve(requests)
    contents = await retriever.store.contents(requests) if requests else []
    return [
        _whole(page.best, content) if page.best else None for page, content in zip(pages, contents)
    ]


def _whole(lead: Snippet, content: PageContent | None) -> str:
    """The passages, after the *lead* unless one of them holds it."""
    passages = [passage.text for passage in content.passages] if content else []
    is_held = any(lead.text.removesuffix("...") in passage for passage in passages)
    return "\n\n".join(passages if is_held else [lead.text, *passages])
