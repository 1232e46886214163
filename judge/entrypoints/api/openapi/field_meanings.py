"""What each field of a judgement means, in words for the OpenAPI document and docs/api.md.

They stand here rather than at the types, whose authors need not read them at every turn.
"""

from collections.abc import Mapping
from typing import Any, Final

Json = dict[str, Any]

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "JudgeRequest": {
        "context": "What happened, 10 to 8000 characters after trimming.",
        "query": "What you would like to know, 5 to 1000 characters after trimming.",
        "domain": "A name from `/api/domains`, or `default` for none; else it is detected.",
        "scope": "Where in the indexed documents to look for passages, such as `@collection:a`.",
    },
    "JudgeResult": {
        "id": "The request's id.",
        "paraphrase": "The dispute, retold in about 30 words.",
        "summary": "The answer in about 120 words, with numbers in brackets for what it cites.",
        "personas": "Three, always in the same order.",
        "domain": "What it is about; `default` when no domain was detected.",
        "domain_scores": "The ranking behind it, best first.",
        "references": "What could be cited, in the order of their numbers.",
        "snippets": "The references' addresses and texts alone, for older frontends.",
        "citations": "Each number in the texts, with its place and its quotation.",
        "evidence": (
            "`grounded`: every quotation was found; `unverified`: some were not and are left out; "
            "`missing`: nothing is cited; `none`: there was nothing to cite."
        ),
        "help": "Somebody to turn to, where the dispute calls for care.",
        "warnings": "What to know before trusting the answer, a sentence each.",
        "model": "What answered.",
        "degraded": "Whether something stood in for the usual model.",
        "attempts": "How often the model was asked: 1 or 2.",
        "versions": "What shaped the answer besides the model.",
        "usage": "Tokens of all attempts.",
        "timings_ms": "Where the time went.",
    },
    "PersonaVerdict": {
        "name": "The voice.",
        "verdict": "Null only where no language model judged.",
        "rationale": "Its reasons, with numbers for what they cite.",
        "key_points": "Three short pieces of advice.",
    },
    "Reference": {
        "number": "What citations refer to, from 1.",
        "kind": "An approved page, or a passage of the indexed documents.",
        "url": "Where it is from.",
        "title": "Its title.",
        "text": "The very words that the model was shown.",
        "fetched_at": "When they were fetched or changed, in UTC.",
        "stale": "Whether the page could not be fetched anew.",
        "cited": "Whether the answer cites it; false until there is one.",
    },
    "Citation": {
        "number": "The reference's.",
        "field": "`summary` or `personas.1.rationale`.",
        "start": "Where its bracket begins, in code points.",
        "end": "Where its bracket ends.",
        "quote": "The words relied on, as the page has them; null when there are none to show.",
        "quote_status": (
            "`verified`: found as it is; `repaired`: nearly, and put right; `unverified`: not "
            "found; `none`: not given."
        ),
        "support": "Share of the sentence's content words in the reference; null if under three.",
    },
    "DomainScore": {
        "domain": "Its name.",
        "score": "How well it fits; 3 decides alone.",
        "matched": "The terms found in the text.",
    },
    "HelpLine": {
        "title": "Who they are.",
        "url": "Their page.",
        "phone": "Their number, or empty.",
    },
    "Excerpt": {"url": "Where it is from.", "text": "The reference's text."},
    "Usage": {
        "input_tokens": "Read.",
        "output_tokens": "Written.",
        "thinking_tokens": "Spent on thinking.",
    },
    "Timings": {
        "references": "To find the domain and read its pages.",
        "model": "To ask the model and check its replies.",
        "total": "Both.",
    },
    "Versions": {
        "prompt": "A digest of the instructions.",
        "sources": "A digest of the sources file.",
    },
    "Problem": {
        "type": "Ends in the kind of problem; the address explains it.",
        "title": "The kind, in words.",
        "status": "The HTTP status.",
        "detail": "What happened and what to do next.",
        "instance": "The path asked.",
        "error": "Repeats `detail`.",
        "errors": "With `invalid-request`: each wrong field.",
        "valid": "With `unknown-domain` and `bad-scope`: what can be used.",
        "candidates": "With `ambiguous`: what may be meant.",
        "help": "With `content-blocked`: somebody to turn to.",
        "defects": "With `invalid-reply`: the rules that the replies broke.",
        "attempts": "With `invalid-reply`: how often the model was asked.",
        "request_id": "With `internal-error`: what to tell whoever runs the service.",
    },
}
"""By schema and field."""


def with_meanings(schemas: Json) -> Json:
    """*schemas* with a description for each field that has one here."""
    return {name: _described(schema, MEANINGS.get(name, {})) for name, schema in schemas.items()}


def _described(schema: Json, meanings: Mapping[str, str]) -> Json:
    if not meanings:
        return schema
    fields = {
        name: field | ({"description": meanings[name]} if name in meanings else {})
        for name, field in schema["properties"].items()
    }
    return schema | {"properties": fields}
