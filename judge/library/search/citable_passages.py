"""The best passages of a scope, as snippets that a judgement may cite."""

from judge.errors import BadScope
from judge.library.search.service import DocumentSearch, SearchParameters
from judge.ports import Clock
from judge.text.english import words
from judge.types.references import CitablePassages, Snippet
from judge.types.search import EVERYWHERE, Passage


class CitablePassageFinder:
    """Finds passages for a dispute among the indexed documents."""

    def __init__(self, search: DocumentSearch, clock: Clock) -> None:
        self._search = search
        self._clock = clock

    async def find(self, dispute: str, scope: str, limit: int) -> CitablePassages:
        """At most *limit* passages in *scope* about *dispute*.

        Raises BadScope, also when nothing at all is indexed, and IndexUnavailable.
        """
        if not await self._search.catalogue.contains(EVERYWHERE):
            raise BadScope("Nothing is indexed here, so a scope cannot be used. Leave it out.")
        request = SearchParameters(_without_operators(dispute), context=scope, limit=limit)
        answer = await self._search.search(request)
        warnings = [*answer.results.warnings, *([answer.hint] if answer.hint else [])]
        if not answer.results.hits and not answer.hint:
            warnings.append("No passage of the indexed documents fits this dispute.")
        return CitablePassages(
            tuple(self._snippet(hit.passage) for hit in answer.results.hits), tuple(warnings)
        )

    def _snippet(self, passage: Passage) -> Snippet:
        return Snippet(
            url=passage.path,
            title=passage.title,
            text=_without_headings(passage),
            fetched_at=passage.modified or self._clock.now(),
            kind="passage",
        )


def _without_operators(text: str) -> str:
    """The words of *text*, lest its quotation marks, dashes and @ be read as search operators."""
    return " ".join(word.replace("'", " ") for word in words(text)) or "-"


def _without_headings(passage: Passage) -> str:
    """The text below the first headings, which the title repeats; all of it if nothing follows."""
    if passage.language != "markdown":
        return passage.text
    lines = passage.text.splitlines()
    first = next(
        (at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0
    )
    return "\n".join(lines[first:])
