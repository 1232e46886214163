"""Requests to check an answer's citations, alike at every entrypoint."""

import asyncio
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from judge.bootstrap.library import Library
from judge.bootstrap.services import Services
from judge.citations.check import AnswerSource, CheckedAnswer, MarkForm, check_answer
from judge.library.pages.approved_pages import requests_of
from judge.types.request_fields import BadFields, FieldError, StrictModel

MAX_ANSWER = 20_000
"""Characters of an answer, about 3,000 words."""

MAX_BYTES = 256 * 1024
"""Of a request's body, and the characters of all texts that are sources."""

_LINE = StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)


class SourceToCheck(StrictModel):
    """A source of the answer: a text, an approved page or a passage of the indexed documents."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_BYTES)] | None = None
    """Its very words."""
    url: Annotated[str, _LINE] | None = None
    """The address of an approved page, as `/api/domains` names it."""
    passage: Annotated[str, _LINE] | None = None
    """The `id` of a passage that a search found."""
    title: Annotated[str, StringConstraints(max_length=500)] | None = None
    """What it is called; a page and a passage have titles of their own."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> "SourceToCheck":
        if sum(part is not None for part in (self.text, self.url, self.passage)) != 1:
            raise ValueError("must have exactly one of text, url and passage")
        return self


class CheckRequest(StrictModel):
    """Check an answer's citations against its sources.

    The answer cites with `[n]` or `<cite i="n"/>`, where n counts the sources from 1. For every
    mark the reply has the sentence of the source that supports it best, how far (`support`), and
    whether it says the opposite (`contradicts`); `uncited` has the sentences that make a claim and
    cite nothing. No model is asked: the same answer has the same result for ever.
    """

    answer: Annotated[
        str, Field(min_length=1, max_length=MAX_ANSWER, description="The answer, as it was given.")
    ]
    sources: Annotated[
        list[SourceToCheck],
        Field(
            min_length=1,
            max_length=50,
            description="What it cites, in the order of the numbers; each has exactly one of "
            "`text`, `url` (an approved page) and `passage` (the `id` of a search result).",
        ),
    ]
    marks: Annotated[
        MarkForm | None,
        Field(description="Which marks are citations; both by default. The other form is prose."),
    ] = None

    def names(self, kind: Literal["url", "passage"]) -> bool:
        """Whether it reads approved pages, or passages, which not everybody may."""
        return any(getattr(source, kind) is not None for source in self.sources)

    @model_validator(mode="after")
    def _is_short_enough(self) -> "CheckRequest":
        if sum(len(source.text or "") for source in self.sources) > MAX_BYTES:
            raise ValueError(f"may have sources of {MAX_BYTES} characters together at most")
        return self


async def check(request: CheckRequest, services: Services | Library | None = None) -> CheckedAnswer:
    """The checked answer; pages need *services*, passages a server's. Raises InvalidRequest."""
    pages = await _pages(request, services) if services and request.names("url") else {}
    sources = [
        await _passage(place, source, services)
        if isinstance(services, Services) and source.passage is not None
        else pages.get(place) or AnswerSource(source.text or "", source.title or "")
        for place, source in enumerate(request.sources)
    ]
    return await asyncio.to_thread(check_answer, request.answer, sources, request.marks)


async def _pages(request: CheckRequest, services: Services | Library) -> dict[int, AnswerSource]:
    """The texts of the pages, by their places among the sources."""
    approved = {r.source.url: r for r in requests_of(services.sources.current().catalog)}
    named = {n: source for n, source in enumerate(request.sources) if source.url is not None}
    pages = {n: approved.get(source.url or "") for n, source in named.items()}
    unknown = [n for n, page in pages.items() if page is None]
    how = "/api/domains and `judge sources list` name them. Give its words as text"
    _refuse(unknown, "url", f"is not an approved page; {how}")
    known = [page for page in pages.values() if page]
    texts = dict(zip(named, await services.retriever.full_texts(known), strict=True))
    lost = [place for place, text in texts.items() if text is None]
    _refuse(lost, "url", "cannot be read now; try again later, or give its words as text")
    return {
        place: AnswerSource(texts[place] or "", named[place].title or page.source.title)
        for place, page in zip(named, known, strict=True)
    }


async def _passage(place: int, source: SourceToCheck, services: Services) -> AnswerSource:
    passages = await services.corpus.search.catalogue.window(source.passage or "")
    unknown = [] if passages else [place]
    _refuse(unknown, "passage", "is no passage of the index; use the `id` of a search result")
    return AnswerSource(passages[0].text, source.title or passages[0].title)


def _refuse(places: list[int], field: str, message: str) -> None:
    if places:
        raise BadFields([FieldError(f"sources.{place}.{field}", message) for place in places])
