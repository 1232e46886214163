"""A language model that gives scripted replies in order, and records its prompts."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from judge.errors import ModelUnavailable
from judge.ports import OnText, ignore_text
from judge.types.replies import FinishReason, ModelReply, Prompt, Usage


@dataclass(frozen=True)
class ModelCall:
    """One call of `complete`."""

    prompt: Prompt
    timeout_s: float
    doubles_limit: bool


@dataclass(frozen=True)
class StreamedReply:
    """A streamed reply: each of *texts*, the reply so far, in turn, then *end*."""

    texts: Sequence[str]
    end: ModelReply | BaseException


def streamed(text: str, *, piece: int = 20, finish: FinishReason = "stop") -> StreamedReply:
    """*text* as a reply that is streamed in pieces of so many characters."""
    texts = [text[:to] for to in range(piece, len(text) + piece, piece)]
    return StreamedReply(texts, ModelReply(text, "scripted", finish, Usage(100, 50, 25)))


class ScriptedModel:
    """Replies and exceptions in order; a text becomes a whole reply that used a few tokens."""

    def __init__(
        self,
        *script: str | ModelReply | Exception | StreamedReply,
        name: str = "scripted",
        gives_verdicts: bool = True,
    ) -> None:
        self.name = name
        self.gives_verdicts = gives_verdicts
        self.calls: list[ModelCall] = []
        self._script = deque(script)

    @property
    def prompts(self) -> list[Prompt]:
        """The prompts received, oldest first."""
        return [call.prompt for call in self.calls]

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """The next scripted reply; raises ModelUnavailable when there is none left."""
        self.calls.append(ModelCall(prompt, timeout_s, doubles_limit))
        if not self._script:
            message = "the script of this model is used up"
            raise ModelUnavailable(message)
        reply = self._script.popleft()
        if isinstance(reply, StreamedReply):
            for text in reply.texts:
                on_text(text)
                await asyncio.sleep(0)
            reply = reply.end
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, str):
            return ModelReply(reply, self.name, usage=Usage(100, 50, 25))
        return reply
