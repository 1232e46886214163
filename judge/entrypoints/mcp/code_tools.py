"""The tools that ask the code graph, by names of repositories."""

from judge.bootstrap import Services
from judge.entrypoints.code_requests import CodeContext, CodeQuestion, LineageRequest
from judge.entrypoints.mcp.calls import ToolCall
from judge.entrypoints.mcp.pages import Json

CONTEXT_TOKENS = 10_000
"""Of all parts of a symbol's context; its definition takes half of that, and fits into one part."""

TOO_FEW_TOKENS = f"There is more: raise `tokens` ({CONTEXT_TOKENS} at most)."


async def ask(services: Services, question: CodeQuestion, call: ToolCall) -> Json:
    """The answer from its beginning to the end of this part.

    Raises the errors of CodeRoots.ask and of CodeGraph's methods.
    """
    if isinstance(question, CodeContext):
        tokens = min(question.tokens, CONTEXT_TOKENS)
        answer = await question.model_copy(update={"tokens": tokens}).ask(services.code)
        return {**answer, "hint": TOO_FEW_TOKENS} if answer["truncated"] else answer
    field = "max_results" if isinstance(question, LineageRequest) else "limit"
    limit = call.shown + getattr(question, field)
    return await question.model_copy(update={field: limit}).ask(services.code)
