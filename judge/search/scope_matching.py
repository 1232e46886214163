"""Whether a passage at hand matches a scope; an index filters by the scope itself."""

from judge.types.search import AnyOf, Clause, Passage, Scope, ancestors


def matches_scope(passage: Passage, scope: Scope) -> bool:
    """Whether every clause of *scope* holds for *passage*."""
    return all(_matches(passage, clause) != clause.is_excluded for clause in scope.clauses)


def _matches(passage: Passage, clause: Clause | AnyOf) -> bool:
    """Whether *clause* holds, taken as positive."""
    if isinstance(clause, AnyOf):
        return any(matches_scope(passage, scope) for scope in clause.scopes)
    values = {value.casefold() for value in clause.values}
    match clause.kind:
        case "collection":
            return passage.collection.casefold() in values
        case "document":
            return passage.document_id.casefold() in values
        case "tag":
            return not values.isdisjoint(tag.casefold() for tag in passage.tags)
        case "folder":
            return not values.isdisjoint(_folders(passage, is_recursive=clause.is_recursive))
        case _:
            return _is_in_period(passage, clause)


def _folders(passage: Passage, *, is_recursive: bool) -> list[str]:
    """The names by which a folder of *passage* may be asked for."""
    if not is_recursive:
        return [passage.folder.casefold()]
    return ["", *ancestors(passage.folder)]


def _is_in_period(passage: Passage, clause: Clause) -> bool:
    if passage.modified is None:
        return False
    is_late_enough = clause.after is None or passage.modified >= clause.after
    return is_late_enough and (clause.before is None or passage.modified < clause.before)
