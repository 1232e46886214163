"""Streams the fields of a reply while it is written; a restart withdraws all of them.

A field is streamed once it is complete and breaks no rule. After a field with a defect no more are
streamed, since the model will be asked again. The rules are those of the finished reply.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pydantic_core import from_json

from judge.judging.verdicts.check import FieldChecker
from judge.judging.verdicts.reply_schema import MAX_REPLY_LENGTH, PartialBody, without_opening_fence
from judge.ports import LanguageModel, OnText, ignore_text
from judge.types.replies import CheckedField, Defect, Prompt
from judge.types.results import Emit, FieldChecked, Restarted

MIN_GROWTH = 0.02
"""A partial reply is parsed again after growing by this share, so that parsing stays linear."""


class StreamedFields:
    """Emits the checked fields of the replies to one request, and calls *on_care* with `care`.

    Does nothing unless *is_enabled*.
    """

    def __init__(
        self, emit: Emit, on_care: Callable[[Sequence[str]], None], *, is_enabled: bool
    ) -> None:
        self._emit = emit
        self._on_care = on_care
        self._is_enabled = is_enabled
        self._told: dict[str, CheckedField] = {}
        self._text = ""
        self._read = 0
        self._is_defective = False

    def listener(self, prompt: Prompt, model: LanguageModel) -> OnText:
        """The callback for the text that *model* writes in reply to *prompt*."""
        return partial(self._on_text, prompt, model) if self._is_enabled else ignore_text

    def restart(self, defects: Sequence[Defect] = ()) -> None:
        """Withdraw all fields, and say so."""
        self._told.clear()
        self._text, self._read, self._is_defective = "", 0, False
        self._emit(Restarted(tuple(defects)))

    def withdraw(self, defects: Sequence[Defect] = ()) -> None:
        """Restart if any field was streamed."""
        if self._told:
            self.restart(defects)

    def finish(self, fields: Sequence[CheckedField]) -> None:
        """Emit those *fields* of the verdict that remain, after a restart if it differs."""
        if not self._is_enabled:
            return
        if not self._told.items() <= {field.name: field for field in fields}.items():
            self.restart()
        for field in fields:
            if not any(defect.is_asked_again for defect in field.defects):
                self._tell(field)

    def _on_text(self, prompt: Prompt, model: LanguageModel, text: str) -> None:
        if not text.startswith(self._text):  # The connection broke, or another model took over.
            self.withdraw()
            self._read, self._is_defective = 0, False
        self._text = text
        has_grown = self._read * (1 + MIN_GROWTH) < len(text) <= MAX_REPLY_LENGTH
        if has_grown and not self._is_defective:
            self._read = len(text)
            body = PartialBody.model_validate(complete_members(text))
            self._on_care(body.care)
            for field in FieldChecker(body, prompt, model.gives_verdicts, self._told).fields():
                if any(defect.is_asked_again for defect in field.defects):
                    self._is_defective = True
                    return
                self._tell(field)

    def _tell(self, field: CheckedField) -> None:
        if field.name not in self._told:
            self._told[field.name] = field
            self._emit(FieldChecked(field.name, field.value, field.citations))


def complete_members(text: str) -> dict[str, Any]:
    """The members of the JSON object that *text* begins with, without those that may still grow.

    The last member is left out, except for the complete entries of "personas".

    >>> complete_members('{"paraphrase": "It is cold.", "personas": [{"name": "A"}, {"name": "B')
    {'paraphrase': 'It is cold.', 'personas': [{'name': 'A'}]}
    """
    opened = without_opening_fence(text)
    try:
        members = from_json(opened, allow_partial="trailing-strings", allow_inf_nan=False)
    except (ValueError, TypeError):
        return {}
    if not isinstance(members, dict) or not members:
        return {}
    name, value = members.popitem()
    if name == "personas" and isinstance(value, list):
        members[name] = value[:-1]
    return members
