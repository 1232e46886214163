"""Streams the fields of a reply while it is written, and tracks which stay after a retry.

A field is streamed once it is complete and breaks no rule. From then on it is part of the verdict,
whatever a later reply says in its place, unless a restart withdraws it.
"""

import re
from dataclasses import replace
from functools import partial

from judge.judging.run_context import Attempt
from judge.judging.verdicts.check import SettledFields, with_settled_fields
from judge.judging.verdicts.partial_reply import ReplyReader
from judge.judging.verdicts.reply_schema import MAX_REPLY_LENGTH
from judge.ports import LanguageModel, OnText, ignore_text
from judge.types.replies import CheckedField, Defect, ModelReply, Prompt
from judge.types.results import Emit, FieldChecked, Restarted

_STRUCTURE = re.compile(r"[][{}]")
"""The JSON of a reply has one of these between any two fields."""

MIN_GROWTH = 0.01
"""A partial reply is parsed again after growing by this share, so that parsing stays linear."""

_RECITED = frozenset({"recitation", "other"})
"""Finish reasons after which no part of a reply is shown: all of it may be recited."""


class StreamedFields:
    """Emits the checked fields of the replies to one request; does nothing unless *is_enabled*."""

    def __init__(self, emit: Emit, *, is_enabled: bool) -> None:
        self._emit = emit
        self._is_enabled = is_enabled
        self._fields: dict[str, CheckedField] = {}
        self._kept: dict[str, CheckedField] = {}
        """Those of `_fields` that an earlier reply wrote."""
        self._gives_verdicts = True
        self._text = ""
        self._read = 0
        self._may_end_field = False
        self._done: set[str] = set()

    @property
    def fields(self) -> SettledFields:
        """The fields that were streamed and not withdrawn, by name."""
        return self._fields

    def listener(self, prompt: Prompt, model: LanguageModel) -> OnText:
        """The callback for the text that *model* writes in reply to *prompt*."""
        return partial(self._on_text, prompt, model) if self._is_enabled else ignore_text

    def finish(self, prompt: Prompt, model: LanguageModel, reply: ModelReply) -> None:
        """Emit the remaining fields of the whole *reply*; a model may not have streamed it."""
        if not self._is_enabled:
            return
        self._update_text(reply.text, model)
        if reply.finish in {"stop", "truncated"}:
            self._read_fields(prompt, is_whole=False)
        if reply.finish == "stop":
            self._read_fields(prompt, is_whole=True)

    def restart(self, first: Attempt) -> None:
        """Emit that the model is asked again after the *first* reply, and which fields stay.

        None stays when that reply recites, or comes from a model that only quotes.
        """
        can_stay = self._gives_verdicts and first.reply.finish not in _RECITED
        self._fields = self._fields if can_stay else {}
        self._kept = dict(self._fields)
        self._forget_text()
        self._emit(Restarted(first.checked.defects, tuple(self._kept)))

    def withdraw_if_recited(self, second: Attempt) -> None:
        """Withdraw the fields of the *second* reply when it recites."""
        if second.reply.finish in _RECITED:
            self._withdraw_new(second.checked.defects)

    def merge_into(self, attempt: Attempt) -> Attempt:
        """*attempt*, an earlier one, with the fields streamed since in place of its own."""
        checked = attempt.checked
        if checked.reply is None or not self._fields:
            return attempt
        reply = with_settled_fields(checked.reply, self._fields)
        return replace(attempt, checked=replace(checked, reply=reply, defects=reply.defects))

    def _on_text(self, prompt: Prompt, model: LanguageModel, text: str) -> None:
        searched = len(self._text) if text.startswith(self._text) else 0
        self._update_text(text, model)
        self._may_end_field |= _STRUCTURE.search(text, searched) is not None
        has_grown = len(text) - self._read > MIN_GROWTH * len(text)
        if self._may_end_field and has_grown and len(text) <= MAX_REPLY_LENGTH:
            self._read_fields(prompt, is_whole=False)
            self._read, self._may_end_field = len(text), False

    def _update_text(self, text: str, model: LanguageModel) -> None:
        """Continue with *text*; start over if the connection broke or another *model* took over."""
        if not text.startswith(self._text):
            self._withdraw_new()
            self._forget_text()
        if not model.gives_verdicts:  # Its prompt does not tell it which fields are settled.
            self._kept = {}
            if self._gives_verdicts:
                self._withdraw_new()
        self._text, self._gives_verdicts = text, model.gives_verdicts

    def _withdraw_new(self, defects: tuple[Defect, ...] = ()) -> None:
        """Withdraw the fields that are not kept from an earlier reply."""
        if len(self._fields) > len(self._kept):
            self._fields = dict(self._kept)
            self._emit(Restarted(defects, tuple(self._kept)))

    def _forget_text(self) -> None:
        self._text, self._read, self._may_end_field = "", 0, False
        self._done.clear()

    def _read_fields(self, prompt: Prompt, *, is_whole: bool) -> None:
        reader = ReplyReader(prompt, self._fields, needs_verdicts=self._gives_verdicts)
        done = self._done | self._fields.keys()
        for field in reader.fields(self._text, done=done, is_whole=is_whole):
            self._done.add(field.name)
            if not field.defects:
                self._fields[field.name] = field
                self._emit(FieldChecked(field.name, field.value, field.citations))
