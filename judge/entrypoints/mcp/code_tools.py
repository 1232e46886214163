"""The tools that ask the code graph, by names of repositories."""

from judge.bootstrap import Services
from judge.entrypoints.code_requests import MAX_ITEMS, CodeQuestion
from judge.entrypoints.mcp.results import Json, fitting

MORE = f"There is more: raise the limit ({MAX_ITEMS} at most), or ask more specifically."
TOO_LONG = "There is more than fits into one answer: ask more specifically."


async def ask(services: Services, question: CodeQuestion) -> Json:
    """The answer, capped; raises the errors of CodeRoots.ask and of CodeGraph's methods."""
    answer = await question.ask(services.code)
    items = fitting(answer["items"])
    is_cut = len(items) < len(answer["items"])
    hint = TOO_LONG if is_cut else MORE if answer["truncated"] else None
    return {
        **answer,
        "items": items,
        "truncated": is_cut or answer["truncated"],
        **({"hint": hint} if hint else {}),
    }
