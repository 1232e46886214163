"""The model as a side step asks it: before a deadline, and with what it costs added up."""

from dataclasses import dataclass, field

from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.judging.attempts import costs_of
from judge.judging.model_caller import Deadline, ModelCaller
from judge.types.replies import ModelReply, Prompt, Usage


@dataclass(slots=True)
class MeteredModel:
    """Asks *caller* until *deadline*; `usage` is the tokens of all that it was asked."""

    caller: ModelCaller
    deadline: Deadline
    usage: Usage = field(default_factory=Usage)

    async def ask(self, prompt: Prompt, *, has_more_room: bool = False) -> ModelReply:
        """A reply of a model that can judge.

        Raises ContentBlocked, ModelUnavailable and DeadlineExceeded.
        """
        if self.caller.clock.monotonic() >= self.deadline.at:
            raise DeadlineExceeded(self.deadline.total_s)
        try:
            reply, model = await self.caller.complete(
                prompt, self.deadline, has_more_room=has_more_room
            )
        except ContentBlocked as blocked:
            self.usage += Usage(input_tokens=blocked.tokens)
            raise
        self.usage += reply.usage
        self.caller.journal.note("other_side.replied", **costs_of(reply))
        if not model.gives_verdicts:
            raise ModelUnavailable("Only a model that quotes could be reached.")
        return reply
