"""Tells whether a passage is in a scope, in plain Python; engines are compared with it."""

from judge.types.search import AnyOf, Clause, Passage, Scope


def holds(scope: Scope, passage: Passage) -> bool:
    return all(_is_true(clause, passage) != clause.is_excluded for clause in scope.clauses)


def _is_true(clause: Clause | AnyOf, passage: Passage) -> bool:
    if isinstance(clause, AnyOf):
        return any(holds(scope, passage) for scope in clause.scopes)
    values = [value.casefold() for value in clause.values]
    folder = passage.folder.casefold()
    names = {
        "collection": [passage.collection],
        "document": [passage.document_id],
        "tag": passage.tags,
        "folder": [passage.folder],
    }
    if clause.kind == "modified":
        moment = passage.modified
        is_early = moment and clause.after and moment < clause.after
        is_late = moment and clause.before and moment >= clause.before
        return bool(moment) and not is_early and not is_late
    if clause.kind == "folder" and clause.is_recursive:
        return any(f"/{folder}/".startswith(f"/{v}/".replace("//", "/")) for v in values)
    return any(name.casefold() in values for name in names[clause.kind])
