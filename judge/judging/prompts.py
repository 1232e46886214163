"""Renders the prompt: instructions, the references in one numbered block, and the dispute.

Pure: the same arguments give the same text to the byte. The words are in `prompts.toml`.
"""

import functools
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

from judge.library.country import ANYWHERE, Country
from judge.text.english import sentences
from judge.text.untrusted import quoted_text, quoted_value
from judge.types.references import Reference
from judge.types.replies import Defect, Persona, Prompt
from judge.types.requests import JudgeRequest

_TEXTS = tomllib.loads(files("judge.judging").joinpath("prompts.toml").read_text("utf-8"))

INSTRUCTIONS: Mapping[str, str] = _TEXTS["instructions"]
DEFAULT_PERSONAS = tuple(Persona(**persona) for persona in _TEXTS["personas"])
"""The personas that are used when the sources file names none."""


def render_prompt(
    request: JudgeRequest,
    references: Sequence[Reference],
    personas: Sequence[Persona],
    *,
    country: Country = ANYWHERE,
    set_in: str = "",
    care: Sequence[str] = (),
    needs_care: bool = False,
    is_brief: bool = False,
    defects: Sequence[Defect] = (),
    doubtful: frozenset[int] = frozenset(),
    addresses: Sequence[str] = (),
) -> Prompt:
    """The prompt for *request*; *is_brief* asks each persona for a rationale of one sentence.

    *set_in* names the country where the dispute is set, if it is another one than *country*.
    *care* are the names of the safety rules that the reply may name; *needs_care* is for a dispute
    that one of them fits; *doubtful* and *addresses* are those of `Prompt`. For a retry *defects*
    are those of the first reply.
    """
    parts = [_task(personas, country, care)]
    if set_in:
        parts.append(INSTRUCTIONS["elsewhere"].format(set_in=set_in, country=country.name))
    if needs_care:
        parts.append(INSTRUCTIONS["care"])
    count = len(references)
    numbers = "1" if count == 1 else f"1 to {count}"
    offered = INSTRUCTIONS["with_references" if references else "without_references"]
    parts.append(offered.format(numbers=numbers))
    if is_brief:
        parts.append(INSTRUCTIONS["brief"])
    rules = instructions = "\n\n".join(parts)
    if defects:
        named = "\n".join(map(_defect_line, defects))
        instructions = f"{rules}\n\n{INSTRUCTIONS['retry'].format(defects=named)}"
    lines = dispute_block(request)
    if references:
        numbered = [f"[{one.number}] {_numbered(one.text)}" for one in references]
        lines = ["<REFERENCES>", *numbered, "</REFERENCES>", *lines]
    return Prompt(
        instructions,
        "\n".join(lines) + "\n",
        request,
        tuple(references),
        tuple(personas),
        care=tuple(care),
        rules=rules,
        doubtful=doubtful,
        addresses=tuple(addresses),
    )


def prompt_digest(personas: Sequence[Persona], country: Country) -> str:
    """A digest of the prompt's own texts; changes when one of them, a persona or *country* does."""
    names = "care_names elsewhere care with_references without_references brief retry"
    texts = [_task(personas, country, ()), *(INSTRUCTIONS[name] for name in names.split())]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def _task(personas: Sequence[Persona], country: Country, care: Sequence[str]) -> str:
    return INSTRUCTIONS["task"].format(
        country=country.name,
        language=country.language,
        personas="\n".join(f"- {persona.name}: {persona.brief}" for persona in personas),
        care=INSTRUCTIONS["care_names"].format(names=", ".join(care)) if care else "",
    )


@functools.lru_cache(maxsize=2048)
def _numbered(text: str) -> str:
    """*text* with `{1} `, `{2} ` and so on before its sentences, otherwise unchanged."""
    spans = sentences(text)
    ends = [*(span.start for span in spans[1:]), len(text)]
    parts = (f"{{{n}}} {text[s.start : e]}" for n, (s, e) in enumerate(zip(spans, ends), 1))
    return "".join(parts) or text


def dispute_block(request: JudgeRequest) -> list[str]:
    """The lines of the DISPUTE block; no text of the dispute can close it."""
    return [
        "<DISPUTE>",
        f"What happened: {quoted_text(request.context)}",
        f"The question: {quoted_text(request.query)}",
        "</DISPUTE>",
    ]


def _defect_line(defect: Defect) -> str:
    value = quoted_value(defect.value)
    return f"- {defect.field}: found {value} ({defect.rule}); expected {defect.expected}."
