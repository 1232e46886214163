"""@mentions -> Scope, the same for every entry point: what is named, as typed values, or an error.

    "revenue @collection:reports -@tag:draft"  ->  "revenue", two clauses

Last of the three steps in which a scope is read, after `mentions.py` and `brackets.py`. Docs:
docs/scopes.md. Whether the names exist is asked later, of the index (`service.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any, get_args

from judge.errors import BadScope
from judge.search.mentions import EVERYTHING, Mention, find_mentions, place_of, quoted
from judge.search.periods import Period, format_period, parse_period
from judge.search.scope_groups import Group, read_groups
from judge.types.search import EVERYWHERE, AnyOf, Clause, Scope, ScopeKind, fold_name, mentioned

KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)

HOLDS_EVERYTHING = frozenset({"collection", "document", "folder"})
"""Kinds that every passage has, so that their `*` is everything."""

_LEAST_SIMILARITY = 0.6
"""How alike two names must be to be offered for one another; difflib's own default."""


MAX_NAMES = 1000
"""Values in one scope, filters included; an engine looks each one up."""

ALONE = "/."
"""At the end of a folder: without what lies below it."""


@dataclass(frozen=True, slots=True)
class ParsedScope:
    """A query freed of its mentions, and the scope that they make.

    `says_where` is whether there was any mention, so that no default applies; `@*` is one.
    """

    text: str
    scope: Scope
    says_where: bool = False


def parse_scope(text: str, now: datetime) -> Scope:
    """The scope that *text* is, nothing else being allowed in it; raises BadScope.

    >>> parse_scope("@tag:a,b", datetime(2026, 1, 1)).clauses[0].values
    ('a', 'b')
    """
    return read_context(text, now).scope


def read_context(text: str, now: datetime) -> ParsedScope:
    """As parse_scope, with what else its callers want to know; raises BadScope."""
    parsed = read_query(text, now)
    if rest := parsed.text.strip():
        word = next(iter(rest.lstrip("-@(").split()), "")
        kind = word.split(":")[0]
        raise BadScope(
            f"{rest[:80]!r} is no scope{_meant(f'@{kind}:', [f'@{k}:' for k in KINDS]) or '.'} "
            "Write @kind:value, such as @collection:reports, or @* for everything.",
            KINDS,
        )
    return parsed


def read_query(text: str, now: datetime) -> ParsedScope:
    """*text* without its mentions, and the scope that they make; raises BadScope."""
    mentions = find_mentions(text)
    if not mentions:
        return ParsedScope(text, EVERYWHERE)
    rest, group = read_groups(text, mentions)
    return ParsedScope(rest, _scope(group, now), says_where=True)


def join(*scopes: Scope) -> Scope:
    """The scope in which all of *scopes* hold; no clause ever takes another back."""
    return Scope(tuple(dict.fromkeys(clause for scope in scopes for clause in scope.clauses)))


def any_of(scopes: Iterable[Scope]) -> Scope:
    """The scope in which one of *scopes* holds, which are one or more."""
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


def excluded(scope: Scope) -> Scope:
    """The scope of all that is not in *scope*, which is not everywhere."""
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
    """*scope* as it is shown in `filters_applied`: `{}` is everywhere."""
    if not scope.clauses:
        return {}
    return {"scope": scope_text(scope), "clauses": _fields(scope)}


def scope_text(scope: Scope) -> str:
    """*scope* as it is written; parse_scope reads it back."""
    return " ".join(_text(clause) for clause in scope.clauses) or "@*"


def nearest(name: str, valid: Sequence[str]) -> str | None:
    """The one of *valid* that may have been meant by *name* or ends in it, ignoring case."""
    by_folded = {fold_name(other).rpartition("/")[2]: other for other in valid}
    by_folded |= {fold_name(other): other for other in valid}
    close = get_close_matches(fold_name(name), list(by_folded), n=1, cutoff=_LEAST_SIMILARITY)
    return by_folded[close[0]] if close else None


def folder_path(value: str) -> str:
    """*value* as folders are kept: posix, without slashes at its ends; "" is the root."""
    parts = value.strip().replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in {"", "."})


def _scope(asked: Mention | Group, now: datetime) -> Scope:
    """What a mention, a bracket or a whole text asks for; no deeper than brackets may be."""
    if isinstance(asked, Mention):
        clause = _clause(asked, now)
        return Scope((clause,)) if clause else EVERYWHERE
    parts = [_scope(part, now) for part in asked.parts]
    scope = any_of(parts) if asked.is_any else join(*parts)
    if not asked.is_excluded:
        return scope
    if not scope.clauses:
        raise BadScope(f"-(…) leaves nothing to search ({place_of(asked.start)}).", KINDS)
    return excluded(scope)


def _clause(mention: Mention, now: datetime) -> Clause | None:
    """What *mention* asks for, None if everything is as well."""
    if mention.kind == EVERYTHING or (
        EVERYTHING in mention.values and mention.kind in HOLDS_EVERYTHING
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
    values = _values(kind, mention)
    return replace(clause, values=values, is_recursive=not _is_alone(kind, mention))


def _is_alone(kind: ScopeKind, mention: Mention) -> bool:
    """Whether folders are meant without what lies below them: `"2024/."`."""
    alone = [kind == "folder" and value.endswith(ALONE) for value in mention.values]
    if any(alone) and not all(alone):
        raise BadScope(
            f"{mention.text}: either all folders end in {ALONE} or none ({mention.place}). Join "
            f'mentions with OR, as in (@folder:"a{ALONE}" OR @folder:b).'
        )
    return all(alone)


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
    return tuple({fold_name(value): value for value in reversed(values)}.values())[::-1]


def _period(mention: Mention, now: datetime) -> Period:
    if len(mention.values) > 1:
        raise BadScope(f"{mention.text} takes one range, not several ({mention.place}).")
    try:
        return parse_period(mention.values[0], now)
    except BadScope as error:
        raise BadScope(f"{error} ({mention.place})", error.valid) from None


def _text(clause: Clause | AnyOf) -> str:
    sign = "-" if clause.is_excluded else ""
    if isinstance(clause, AnyOf):
        return f"{sign}({' OR '.join(_alternatives(clause))})"
    if clause.kind == "modified":
        return f"{sign}@modified:{format_period(Period(clause.after, clause.before))}"
    values = clause.values
    if clause.kind == "folder":
        values = tuple(value or ("/" if clause.is_recursive else "") for value in values)
    ending = "" if clause.is_recursive else ALONE
    return f"{sign}@{clause.kind}:{','.join(quoted(f'{value}{ending}') for value in values)}"


def _alternatives(clause: AnyOf) -> list[str]:
    """The scopes in a bracket; those of several mentions have one of their own beside others."""
    has_others = len(clause.scopes) > 1
    return [
        f"({scope_text(one)})" if has_others and len(one.clauses) > 1 else scope_text(one)
        for one in clause.scopes
    ]


def _fields(scope: Scope) -> list[dict[str, Any]]:
    return [
        {"any_of": [_fields(one) for one in clause.scopes], "excluded": clause.is_excluded}
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
