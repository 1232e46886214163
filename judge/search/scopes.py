"""@mentions -> Scope, the same for every entry point: what is named, as typed values, or an error.

    "revenue @collection:reports -@tag:draft"  ->  "revenue", two clauses

Docs: docs/scopes.md. Whether the names exist is asked later, of the index (`service.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any, get_args

from judge.errors import BadScope
from judge.search.mentions import EVERYTHING, Mention, find_mentions, quoted
from judge.search.periods import Period, format_period, parse_period
from judge.types.search import Clause, Scope, ScopeKind

KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)

_HOLDS_EVERYTHING = frozenset({"collection", "document", "folder"})
"""Kinds that every passage has, so that their `*` is everything."""

_LEAST_SIMILARITY = 0.6
"""How alike two names must be to be offered for one another; difflib's own default."""


@dataclass(frozen=True, slots=True)
class ParsedScope:
    """A query freed of its mentions, and the scope that they make.

    `names_collections` is whether the mentions say themselves which collections are meant, so that
    no default applies; `@*` does.
    """

    text: str
    scope: Scope
    names_collections: bool = False


def parse_scope(text: str, now: datetime) -> Scope:
    """The scope that *text* is, nothing else being allowed in it; raises BadScope.

    >>> parse_scope("@tag:a,b", datetime(2026, 1, 1)).clauses[0].values
    ('a', 'b')
    """
    return read_context(text, now).scope


def extract_mentions(query: str, now: datetime) -> tuple[str, Scope]:
    """*query* without its mentions, and the scope that they make; raises BadScope."""
    parsed = read_query(query, now)
    return parsed.text, parsed.scope


def read_context(text: str, now: datetime) -> ParsedScope:
    """As parse_scope, with what else its callers want to know; raises BadScope."""
    parsed = read_query(text, now)
    if rest := parsed.text.strip():
        kind = rest.lstrip("-@").split()[0].split(":")[0].lower() if rest.lstrip("-@") else ""
        raise BadScope(
            f"{rest[:80]!r} is no scope{_meant(f'@{kind}:', [f'@{k}:' for k in KINDS])}. Write "
            "@kind:value, such as @collection:reports, or @* for everything.",
            KINDS,
        )
    return parsed


def read_query(text: str, now: datetime) -> ParsedScope:
    """As extract_mentions, with what else its callers want to know; raises BadScope."""
    rest, mentions = find_mentions(text)
    clauses = [_clause(mention, now) for mention in mentions]
    names_collections = any(
        m.kind in {EVERYTHING, "collection"} and not m.is_excluded for m in mentions
    )
    return ParsedScope(rest, Scope(tuple(c for c in clauses if c)), names_collections)


def join(*scopes: Scope) -> Scope:
    """The scope in which all of *scopes* hold; no clause ever takes another back."""
    return Scope(tuple(dict.fromkeys(clause for scope in scopes for clause in scope.clauses)))


def format_scope(scope: Scope) -> dict[str, Any]:
    """*scope* as it is shown in `filters_applied`: `{}` is everywhere."""
    if not scope.clauses:
        return {}
    return {
        "scope": scope_text(scope),
        "clauses": [_clause_fields(clause) for clause in scope.clauses],
    }


def scope_text(scope: Scope) -> str:
    """*scope* as it is written; parse_scope reads it back.

    Only a folder without what lies below it cannot be written: that comes from a filter.
    """
    return " ".join(_clause_text(clause) for clause in scope.clauses) or "@*"


def nearest(name: str, valid: Sequence[str]) -> str | None:
    """The one of *valid* that may have been meant by *name*, ignoring case."""
    by_folded = {other.casefold(): other for other in valid}
    close = get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=_LEAST_SIMILARITY)
    return by_folded[close[0]] if close else None


def folder_path(value: str) -> str:
    """*value* as folders are kept: posix, without slashes at its ends; "" is the root."""
    parts = value.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in {"", "."})


def _clause(mention: Mention, now: datetime) -> Clause | None:
    """What *mention* asks for, None if everything is as well."""
    if mention.kind == EVERYTHING or (
        EVERYTHING in mention.values and mention.kind in _HOLDS_EVERYTHING
    ):
        if mention.is_excluded:
            raise BadScope(f"{mention.text} leaves nothing to search ({mention.place}).", KINDS)
        return None
    kind = _kind(mention)
    if EVERYTHING in mention.values:
        raise BadScope(
            f"{mention.text}:*: a star stands for everything in @* and @collection:* only "
            f"({mention.place})."
        )
    clause = Clause(kind, is_excluded=mention.is_excluded)
    if kind == "modified":
        period = _period(mention, now)
        return replace(clause, after=period.after, before=period.before)
    return replace(clause, values=_values(kind, mention))


def _kind(mention: Mention) -> ScopeKind:
    for kind in KINDS:
        if kind == mention.kind:
            return kind
    guess = _meant(mention.text, [f"@{kind}" for kind in KINDS]) or ": there is no such scope."
    raise BadScope(f"{mention.text}{guess} ({mention.place})", KINDS)


def _meant(text: str, valid: Sequence[str]) -> str:
    guess = nearest(text.lstrip("-"), valid)
    return f": did you mean {guess}?" if guess else ""


def _values(kind: ScopeKind, mention: Mention) -> tuple[str, ...]:
    values = mention.values
    if kind == "folder":
        values = tuple(folder_path(value) for value in values)
    return tuple({value.casefold(): value for value in reversed(values)}.values())[::-1]


def _period(mention: Mention, now: datetime) -> Period:
    if len(mention.values) > 1:
        raise BadScope(f"{mention.text} takes one range, not several ({mention.place}).")
    try:
        return parse_period(mention.values[0], now)
    except BadScope as error:
        raise BadScope(f"{error} ({mention.place})", error.valid) from None


def _clause_text(clause: Clause) -> str:
    sign = "-" if clause.is_excluded else ""
    if clause.kind == "modified":
        return f"{sign}@modified:{format_period(Period(clause.after, clause.before))}"
    values = ",".join(quoted(value or "/") for value in clause.values)
    below = "" if clause.is_recursive else " (not below it)"
    return f"{sign}@{clause.kind}:{values}{below}"


def _clause_fields(clause: Clause) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": clause.kind}
    if clause.kind == "modified":
        fields |= {"after": clause.after, "before": clause.before}
    else:
        fields["values"] = list(clause.values)
    if clause.kind == "folder":
        fields["recursive"] = clause.is_recursive
    return fields | {"excluded": clause.is_excluded}
