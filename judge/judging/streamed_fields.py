"""What is streamed of replies while they are written, and what of it stays when one is asked again.

A field is streamed once it is complete and breaks no rule. From then on it is part of the verdict,
whatever a reply says in its place, unless a restart lets it fall.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from judge.judging.run_context import Attempt
from judge.judging.verdicts.check import Settled, with_settled
from judge.judging.verdicts.partial_reply import ReplyReader
from judge.judging.verdicts.reply_schema import LONGEST_REPLY
from judge.ports import LanguageModel, OnText, ignore_text
from judge.types.replies import CheckedField, Defect, ModelReply, Persona, Prompt
from judge.types.steps import Emit, FieldChecked, Restarted

_STRUCTURE = re.compile(r"[][{}]")
"""One of these is written before the next field of a reply begins."""

LEAST_GROWTH = 0.01
"""The share by which a text has grown when it is read again: reading stays linear in its length."""

_NOT_TO_SHOW = frozenset({"recitation", "other"})
"""Ends after which nothing of a reply is shown: it may recite from its first words on."""


class StreamedFields:
    """Emits the fields of the replies to one request; none is looked for unless it *is_wanted*."""

    def __init__(self, emit: Emit, personas: Sequence[Persona], *, is_wanted: bool) -> None:
        self._emit = emit
        self._personas = personas
        self._is_wanted = is_wanted
        self._fields: dict[str, CheckedField] = {}
        self._kept: dict[str, CheckedField] = {}
        self._gives_verdicts = True
        self._text = ""
        self._read = 0
        self._may_end_field = False
        self._done: set[str] = set()

    @property
    def fields(self) -> Settled:
        """What was streamed and did not fall."""
        return self._fields

    def listener(self, prompt: Prompt, model: LanguageModel) -> OnText:
        """What is called while *model* writes its reply to *prompt*."""
        return partial(self._read_text, prompt, model) if self._is_wanted else ignore_text

    def finish(self, prompt: Prompt, model: LanguageModel, reply: ModelReply) -> None:
        """Emit what can be streamed of the whole *reply*, of which the parts may not have come."""
        if not self._is_wanted:
            return
        self._follow(reply.text, model)
        if reply.finish in {"stop", "truncated"}:
            self._read_fields(prompt, is_whole=False)
        if reply.finish == "stop":
            self._read_fields(prompt, is_whole=True)

    def restart(self, first: Attempt) -> None:
        """Emit that the *first* reply is asked again, and which of its fields stay.

        None does when it recites, or when it comes from a model that only quotes.
        """
        is_to_stay = self._gives_verdicts and first.reply.finish not in _NOT_TO_SHOW
        self._fields = self._fields if is_to_stay else {}
        self._kept = dict(self._fields)
        self._forget_text()
        self._emit(Restarted(first.checked.defects, tuple(self._kept)))

    def end(self, second: Attempt) -> None:
        """Let fall what the *second* reply said and must not be shown."""
        if second.reply.finish in _NOT_TO_SHOW:
            self._fall_back(second.checked.defects)

    def settled(self, attempt: Attempt) -> Attempt:
        """*attempt* with all that was streamed in the place of its own fields."""
        checked = attempt.checked
        if checked.reply is None or not self._fields:
            return attempt
        reply = with_settled(checked.reply, self._fields)
        return replace(attempt, checked=replace(checked, reply=reply, defects=reply.defects))

    def _read_text(self, prompt: Prompt, model: LanguageModel, text: str) -> None:
        searched = len(self._text) if text.startswith(self._text) else 0
        self._follow(text, model)
        self._may_end_field |= _STRUCTURE.search(text, searched) is not None
        has_grown = len(text) - self._read > LEAST_GROWTH * len(text)
        if self._may_end_field and has_grown and len(text) <= LONGEST_REPLY:
            self._read_fields(prompt, is_whole=False)
            self._read, self._may_end_field = len(text), False

    def _follow(self, text: str, model: LanguageModel) -> None:
        """Go on with *text*, or begin anew: a connection broke, or another *model* took over."""
        if not text.startswith(self._text):
            self._fall_back()
            self._forget_text()
        if not model.gives_verdicts:  # It neither knows what was said nor goes on with it.
            self._kept = {}
            if self._gives_verdicts:
                self._fall_back()
        self._text, self._gives_verdicts = text, model.gives_verdicts

    def _fall_back(self, defects: tuple[Defect, ...] = ()) -> None:
        """Let fall what is not kept."""
        if len(self._fields) > len(self._kept):
            self._fields = dict(self._kept)
            self._emit(Restarted(defects, tuple(self._kept)))

    def _forget_text(self) -> None:
        self._text, self._read, self._may_end_field = "", 0, False
        self._done.clear()

    def _read_fields(self, prompt: Prompt, *, is_whole: bool) -> None:
        reader = ReplyReader(
            prompt, self._personas, self._fields, needs_verdicts=self._gives_verdicts
        )
        done = self._done | self._fields.keys()
        for field in reader.fields(self._text, done=done, is_whole=is_whole):
            self._done.add(field.name)
            if not field.defects:
                self._fields[field.name] = field
                self._emit(FieldChecked(field.name, field.value, field.citations))
