"""The prompt `contextual_search`: how an assistant searches within its user's scope.

Its text is in `contextual_search.md` beside this file.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from mcp.types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from judge.bootstrap.services import Services
from judge.entrypoints.mcp.completions import complete_mention, complete_scope
from judge.entrypoints.mcp.features import PromptSpec
from judge.library.search.service import NOTHING_INDEXED

DESCRIPTION = "Answer from the indexed documents, within the @scopes that the user gives."
MAX_NAMES = 50
"""Collections named in the prompt; the tool `list_collections` lists all."""


async def _render(services: Services, arguments: Mapping[str, str]) -> GetPromptResult:
    """The guide, then the collections, the scope and the question; raises IndexUnavailable."""
    collections = await services.corpus.search.catalogue.collections()
    question, scope = (arguments.get(name, "").strip() for name in ("question", "context"))
    guide = files("judge.entrypoints.mcp").joinpath("contextual_search.md").read_text("utf-8")
    parts = [guide, _collections([stats.name for stats in collections])]
    if scope:
        parts.append(f"## The scope\nPass this on in `context`, unchanged: {scope}\n")
    if question:
        parts.append(f"## The question\n{question}\n")
    text = TextContent(text="\n".join(parts))
    return GetPromptResult(
        description=DESCRIPTION, messages=[PromptMessage(role="user", content=text)]
    )


def _collections(names: Sequence[str]) -> str:
    if not names:
        return f"{NOTHING_INDEXED}\n"
    listed = ", ".join(names[:MAX_NAMES])
    more = " and others, which `list_collections` tells" if len(names) > MAX_NAMES else ""
    return f"The collections are: {listed}{more}.\n"


CONTEXTUAL_SEARCH = PromptSpec(
    Prompt(
        name="contextual_search",
        title="Search in a context",
        description=DESCRIPTION,
        arguments=[
            PromptArgument(
                name="question", description="What the user wants to know, @scopes included."
            ),
            PromptArgument(
                name="context", description="Where to look, as @scopes: `@collection:reports`."
            ),
        ],
    ),
    _render,
    {"question": complete_mention, "context": complete_scope},
)
