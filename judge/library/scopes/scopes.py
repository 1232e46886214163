"""@mentions -> Scope, the same for every entrypoint: typed clauses, or an error.

    "revenue @collection:reports -@tag:draft"  ->  "revenue", two clauses

`grammar.py` parses the text, and `service.py` checks later whether the names exist in the index.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any, get_args

from judge.errors import BadScope
from judge.library.scopes.grammar import STAR, Group, Mention, parse_mentions, place_of, quoted
from judge.library.scopes.periods import Period, format_period, parse_period
from judge.types.search import (
    EVERYWHERE,
    AnyOf,
    Clause,
    Scope,
    ScopeKind,
    fold_name,
    folder_path,
    mentioned,
)

KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)

KINDS_WITH_STAR = frozenset({"collection", "document", "folder"})
"""Kinds that every passage has, so that their `*` matches everything."""

_MIN_SIMILARITY = 0.6
"""Of a name that is suggested for another, 0 to 1; difflib's own default."""

MAX_NAMES = 1000
"""Values in one scope, filters included; an engine looks each one up."""

NON_RECURSIVE_SUFFIX = "/."
"""Ends a folder whose subfolders are excluded."""


@dataclass(frozen=True, slots=True)
class ParsedScope:
    """A query without its mentions, and the scope of these.

    `has_mentions` says that no default scope applies; `@*` counts as a mention.
    """

    text: str
    scope: Scope
    has_mentions: bool = False


def parse_scope(text: str, now: datetime) -> Scope:
    """The scope in *text*, which may hold nothing but mentions; raises BadScope.

    >>> parse_scope("@tag:a,b", datetime(2026, 1, 1)).clauses[0].values
    ('a', 'b')
    """
    return read_context(text, now).scope


def read_context(text: str, now: datetime) -> ParsedScope:
    """Like parse_scope, but says whether there was any mention; raises BadScope."""
    parsed = extract_scope(text, now)
    if rest := parsed.text.strip():
        word = next(iter(rest.lstrip("-@(").split()), "")
        kind = word.split(":")[0]
        suggestion = _suggestion(f"@{kind}:", [f"@{k}:" for k in KINDS]) or "."
        raise BadScope(
            f"{rest[:80]!r} is no scope{suggestion} "
            "Write @kind:value, such as @collection:reports, or @* for everything.",
            KINDS,
        )
    return parsed


def extract_scope(text: str, now: datetime) -> ParsedScope:
    """*text* without its mentions, and the scope of these; raises BadScope."""
    rest, group = parse_mentions(text)
    return ParsedScope(rest, _scope_of(group, now), has_mentions=bool(group.parts))


def all_of(*scopes: Scope) -> Scope:
    """*scopes* joined by AND; no clause ever cancels another."""
    return Scope(tuple(dict.fromkeys(clause for scope in scopes for clause in scope.clauses)))


def any_of(scopes: Iterable[Scope]) -> Scope:
    """*scopes*, at least one, joined by OR."""
    alternatives: dict[Scope, None] = {}
    for scope in scopes:
        match scope.clauses:
            case ():
                return EVERYWHERE
            case (AnyOf(scopes=inner, is_excluded=False),):
                alternatives |= dict.fromkeys(inner)
            case _:
                alternatives[scope] = None
    return (
        Scope((AnyOf(tuple(alternatives)),)) if len(alternatives) > 1 else next(iter(alternatives))
    )


def complement(scope: Scope) -> Scope:
    """The scope of everything outside *scope*, which must not be EVERYWHERE."""
    match scope.clauses:
        case (AnyOf(scopes=(inner,), is_excluded=True),):
            return inner
        case (clause,):
            return Scope((replace(clause, is_excluded=not clause.is_excluded),))
        case _:
            return Scope((AnyOf((scope,), is_excluded=True),))


def check_size(scope: Scope) -> None:
    """Raise BadScope if *scope* has more than MAX_NAMES values."""
    count = sum(max(1, len(clause.values)) for clause in mentioned(scope))
    if count > MAX_NAMES:
        raise BadScope(f"The scope has {count} names; {MAX_NAMES} are the most. Name fewer.")


def format_scope(scope: Scope) -> dict[str, Any]:
    """*scope* as shown in `filters_applied`; everywhere is `{}`."""
    if not scope.clauses:
        return {}
    return {"scope": scope_text(scope), "clauses": _fields(scope)}


def scope_text(scope: Scope) -> str:
    """*scope* in the syntax of mentions, which parse_scope reads."""
    return " ".join(_clause_text(clause) for clause in scope.clauses) or "@*"


def nearest_name(name: str, valid: Sequence[str]) -> str | None:
    """The most similar of *valid*, or None; case is ignored, and a last path segment is enough."""
    by_folded = {fold_name(other).rpartition("/")[2]: other for other in valid}
    by_folded |= {fold_name(other): other for other in valid}
    close = get_close_matches(fold_name(name), list(by_folded), n=1, cutoff=_MIN_SIMILARITY)
    return by_folded[close[0]] if close else None


def _scope_of(node: Mention | Group, now: datetime) -> Scope:
    """The scope of a mention or a group; MAX_DEPTH of groups limits the recursion."""
    if isinstance(node, Mention):
        clause = _clause(node, now)
        return Scope((clause,)) if clause else EVERYWHERE
    parts = [_scope_of(part, now) for part in node.parts]
    scope = any_of(parts) if node.is_any else all_of(*parts)
    if not node.is_excluded:
        return scope
    if not scope.clauses:
        raise BadScope(f"-(…) leaves nothing to search ({place_of(node.start)}).", KINDS)
    return complement(scope)


def _clause(mention: Mention, now: datetime) -> Clause | None:
    """The clause of *mention*; None if it matches everything."""
    if mention.kind == STAR or (STAR in mention.values and mention.kind in KINDS_WITH_STAR):
        if mention.is_excluded:
            raise BadScope(
                f"{mention.text} leaves nothing to search ({place_of(mention.start)}).", KINDS
            )
        return None
    kind = _kind(mention)
    if STAR in mention.values:
        raise BadScope(
            f"{mention.text}:*: a star stands for everything in @* and @collection:* only "
            f"({place_of(mention.start)})."
        )
    clause = Clause(kind, is_excluded=mention.is_excluded)
    if kind == "modified":
        period = _period(mention, now)
        return replace(clause, after=period.after, before=period.before)
    if kind == "folder":
        values = [folder_path(value) for value in mention.values]
        return replace(clause, values=_distinct(values), is_recursive=_is_recursive(mention))
    return replace(clause, values=_distinct(mention.values))


def _is_recursive(mention: Mention) -> bool:
    """Whether subfolders are included, which `"2024/."` denies."""
    ending, place = NON_RECURSIVE_SUFFIX, place_of(mention.start)
    has_ending = {value.endswith(ending) for value in mention.values}
    if len(has_ending) > 1:
        raise BadScope(
            f"{mention.text}: either all folders end in {ending} or none ({place}). Join "
            f'mentions with OR, as in (@folder:"a{ending}" OR @folder:b).'
        )
    return True not in has_ending


def _kind(mention: Mention) -> ScopeKind:
    for kind in KINDS:
        if kind == mention.kind:
            return kind
    told = _suggestion(mention.text, [f"@{kind}" for kind in KINDS]) or ": there is no such scope."
    raise BadScope(f"{mention.text}{told} ({place_of(mention.start)})", KINDS)


def _suggestion(text: str, valid: Sequence[str]) -> str:
    nearest = nearest_name(text.lstrip("-"), valid)
    return f": did you mean {nearest}?" if nearest else ""


def _distinct(values: Sequence[str]) -> tuple[str, ...]:
    return tuple({fold_name(value): value for value in reversed(values)}.values())[::-1]


def _period(mention: Mention, now: datetime) -> Period:
    if len(mention.values) > 1:
        raise BadScope(f"{mention.text} takes one range, not several ({place_of(mention.start)}).")
    try:
        return parse_period(mention.values[0], now)
    except BadScope as error:
        raise BadScope(f"{error} ({place_of(mention.start)})", error.valid) from None


def _clause_text(clause: Clause | AnyOf) -> str:
    sign = "-" if clause.is_excluded else ""
    if isinstance(clause, AnyOf):
        return f"{sign}({' OR '.join(_alternatives(clause))})"
    if clause.kind == "modified":
        return f"{sign}@modified:{format_period(Period(clause.after, clause.before))}"
    values = clause.values
    if clause.kind == "folder":
        values = tuple(value or ("/" if clause.is_recursive else "") for value in values)
    ending = "" if clause.is_recursive else NON_RECURSIVE_SUFFIX
    return f"{sign}@{clause.kind}:{','.join(quoted(f'{value}{ending}') for value in values)}"


def _alternatives(clause: AnyOf) -> list[str]:
    """The scopes in a bracket; beside others, one of several clauses gets its own bracket."""
    has_others = len(clause.scopes) > 1
    return [
        f"({scope_text(scope)})" if has_others and len(scope.clauses) > 1 else scope_text(scope)
        for scope in clause.scopes
    ]


def _fields(scope: Scope) -> list[dict[str, Any]]:
    return [
        {"any_of": [_fields(inner) for inner in clause.scopes], "excluded": clause.is_excluded}
        if isinstance(clause, AnyOf)
        else _clause_fields(clause)
        for clause in scope.clauses
    ]


def _clause_fields(clause: Clause) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": clause.kind}
    if clause.kind == "modified":
        fields |= {"after": clause.after, "before": clause.before}
    else:
        fields["values"] = list(clause.values)
    if clause.kind == "folder":
        fields["recursive"] = clause.is_recursive
    return fields | {"excluded": clause.is_excluded}
