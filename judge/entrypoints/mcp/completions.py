"""Completes the arguments of prompts and resource templates."""

import re
from collections.abc import Iterable, Sequence

from judge.bootstrap.services import Services
from judge.library.scopes.grammar import quoted
from judge.library.scopes.periods import PERIOD_FORMS
from judge.library.scopes.scopes import KINDS
from judge.types.search import ScopeKind, fold_name, id_prefix, passage_id

_KIND = re.compile(r"(?:^|(?<=[\s(]))-?@(\w*)$")
_VALUE = re.compile(r'(?:^|(?<=[\s(]))-?@(\w+):(?:(?:"[^"]*"|[^\s",]+),)*("[^"]*|[^\s",]*)$')


async def complete_scope(services: Services, typed: str) -> Sequence[str]:
    """*typed* with its last mention completed: the kind after an @, then a name."""
    if not typed or typed[-1] in " (":
        return [f"{typed}@{kind}:" for kind in KINDS]
    return await complete_mention(services, typed)


async def complete_mention(services: Services, typed: str) -> Sequence[str]:
    """Like complete_scope, for a text with other words: nothing unless it ends in a mention."""
    if match := _KIND.search(typed):
        head = typed[: match.start(1)]
        return [f"{head}{kind}:" for kind in _beginning_with(match[1], KINDS)]
    match = _VALUE.search(typed)
    if match is None or match[1].lower() not in KINDS:
        return []
    kind: ScopeKind = next(kind for kind in KINDS if kind == match[1].lower())
    names = await _names(services, kind)
    head = typed[: match.start(2)]
    return [head + quoted(name) for name in _beginning_with(match[2].lstrip('"'), names)]


async def complete_collection(services: Services, typed: str) -> Sequence[str]:
    """The collections whose names begin with *typed*."""
    return _beginning_with(typed, await _names(services, "collection"))


async def complete_passage(services: Services, typed: str) -> Sequence[str]:
    """The first passages whose ids begin with *typed*; before a slash, the collections."""
    collections = {id_prefix(name): name for name in await _names(services, "collection")}
    named = _beginning_with(f"{typed.partition('/')[0]}/", collections)
    if "/" not in typed or not named:
        return _beginning_with(typed, collections)
    documents = await services.corpus.search.catalogue.documents(collections[named[0]])
    return _beginning_with(typed, [passage_id(d.collection, d.id, 0) for d in documents])


def _beginning_with(typed: str, names: Iterable[str]) -> list[str]:
    folded = fold_name(typed)
    return [name for name in names if fold_name(name).startswith(folded)]


async def _names(services: Services, kind: ScopeKind) -> Sequence[str]:
    """What a mention of *kind* can name; empty if nothing is indexed."""
    if kind == "modified":
        return PERIOD_FORMS
    catalogue = services.corpus.search.catalogue
    if kind == "collection":
        return [stats.name for stats in await catalogue.collections()]
    return await catalogue.names(kind)
