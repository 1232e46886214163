"""Parts of the report: an answer with its citations marked, alone or beside the one before.

Every word of a case, page or model is escaped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from judge.golden.replay import ReplayedReply
from judge.golden.scores import Answer
from judge.golden.text_diff import DiffPart

Body = Mapping[str, Any]

_TAGS = {"same": "{}", "removed": "<del>{}</del>", "added": "<ins>{}</ins>"}


def diff_html(parts: Sequence[DiffPart]) -> str:
    """*parts* with what was removed struck out and what was added underlined."""
    return "".join(_TAGS[part.kind].format(escape(part.text)) for part in parts)


def answer_html(after: Answer, before: Answer | None = None) -> Iterator[str]:
    """*after* as a table: one column, or two when it is not the same as *before*."""
    new = dict(_cells(after))
    old = dict(_cells(before)) if before else new
    if old == new:
        yield "<table>"
        yield from (f"<tr><td>{cell}</td></tr>" for cell in new.values())
    else:
        yield "<table><tr><th>Answer before</th><th>Answer after</th></tr>"
        for key in dict.fromkeys([*old, *new]):
            one, other = old.get(key, ""), new.get(key, "")
            kind = ' class="moved"' if one != other else ""
            yield f"<tr{kind}><td>{one}</td><td>{other}</td></tr>"
    yield "</table>"


def replies_html(replies: Sequence[ReplayedReply]) -> Iterator[str]:
    """What the model replied, with the rules that each reply broke."""
    for number, reply in enumerate(replies, 1):
        broken = [f"{d.rule} in {d.field}: expected {d.expected}" for d in reply.defects]
        kept = "kept every rule" if not (broken or reply.rules) else "broke a rule:"
        yield f"<p><b>Reply {number}</b> {kept}</p>"
        yield f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in broken or reply.rules)}</ul>"
        yield f"<pre>{escape(reply.text)}</pre>"


def _cells(answer: Answer) -> Iterator[tuple[str, str]]:
    """Each part of the answer by a name that it has in any answer to the same case."""
    body = answer.body
    for line in body.get("help", ()):
        words = ", ".join(filter(None, map(str, line.values())))
        yield f"help {words}", f"<p>Help: {escape(words)}</p>"
    if answer.status != 200:
        detail = str(body.get("detail", answer.status))
        yield "summary", f"<p>No verdict: {escape(detail)}</p>"
        return
    yield "paraphrase", f"<p>{escape(body['paraphrase'])}</p>"
    yield "summary", f"<p><b>{_cited(body, 'summary', body['summary'])}</b></p>"
    for index, persona in enumerate(body["personas"]):
        yield f"persona {index}", _persona(body, index, persona)
    for name, words in _other_side(body.get("other_side") or {}):
        yield name, f"<p>{escape(words)}</p>"
    counts = Counter[str]()
    for citation in body["citations"]:
        field = citation["field"]
        counts[field] += 1
        told = f'<p class="{_kind(citation)}">{escape(_told(citation))}</p>'
        yield f"citation {counts[field]} {field}", told
    for reference in body["references"]:
        words = f"[{reference['number']}] {reference['text']} ({reference['url']})"
        yield f"reference {reference['number']}", f"<p>{escape(words)}</p>"
    for number, warning in enumerate(body["warnings"]):
        yield f"warning {number}", f"<p>Warning: {escape(warning)}</p>"


def _other_side(told: Body) -> Iterator[tuple[str, str]]:
    """The retelling or why there is none, and what each persona says of it."""
    if told:
        yield "other side", f"The other side: {told['retelling'] or told['note']}"
    for index, one in enumerate(told.get("personas", ())):
        words = f"{one['name']} to the other side: {one['verdict']}. {one['rationale']}"
        yield f"other side {index}", words


def _persona(body: Body, index: int, persona: Mapping[str, Any]) -> str:
    verdict = persona["verdict"] or "no verdict"
    rationale = _cited(body, f"personas.{index}.rationale", persona["rationale"])
    points = "".join(f"<li>{escape(point)}</li>" for point in persona["key_points"])
    heading = f"<h4>{escape(persona['name'])}: {escape(verdict)}</h4>"
    return f"{heading}<p>{rationale}</p><ul>{points}</ul>"


def _cited(body: Body, field: str, text: str) -> str:
    """*text* with its citations marked by what they rest on."""
    marks = {(c["start"], c["end"]): _kind(c) for c in body["citations"] if c["field"] == field}
    parts, at = [], 0
    for (start, end), kind in sorted(marks.items()):
        mark = f'<mark class="{kind}">{escape(text[start:end])}</mark>'
        parts += [escape(text[at:start]), mark]
        at = end
    return "".join([*parts, escape(text[at:])])


def _kind(citation: Mapping[str, Any]) -> str:
    if citation.get("contradicts"):
        return "against"
    return "rests" if citation["quote_status"] == "verified" else "bare"


def _told(citation: Mapping[str, Any]) -> str:
    where = f"[{citation['number']}] in {citation['field']}"
    if not citation["quote"]:
        return f"{where}: no sentence is named"
    against = "contradicts" if citation.get("contradicts") else "rests on"
    support = citation["support"]
    carried = "" if support is None else f" (carried {support:.0%})"
    return f"{where} {against} “{citation['quote']}”{carried}"
