"""pytest's fixtures: what a parameter of a test stands for, found by its name as pytest does.

A fixture may be defined in the test's class, its module, or a `conftest.py` of its folder or one
above; the nearest is meant. Nobody declares this to a type checker, so it counts as inferred.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.facts import MODULES
from judge.codegraph.infer import types as ty
from judge.codegraph.infer.name_resolver import Declaration, NameResolver

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

_MAKERS = frozenset({"pytest.fixture", "pytest_asyncio.fixture"})


def fixture_types(evaluator: "TypeEvaluator", function: ty.Definition, name: str) -> ty.Types:
    """The types of the fixture *name* in *function*, when that can ask for one."""
    resolver = evaluator.resolver
    scope = resolver.scope(function)
    if not scope.name.startswith("test") and not _is_fixture(resolver, function):
        return ()
    for path, value, _ in _candidates(resolver, function.path, scope.parent, name):
        if isinstance(value, ir.FunctionBinding):
            found = ty.Definition(path, value.scope)
            if found != function and _is_fixture(resolver, found):
                return _given(evaluator, found)
    return ()


def _candidates(resolver: NameResolver, path: str, owner: int, name: str) -> Iterator[Declaration]:
    """What *name* is bound to in the class, the module and each `conftest.py`, in order."""
    scope = resolver.scope(ty.Definition(path, owner))
    if scope.kind == "class":
        yield from resolver.declarations(path, scope.names.get(name, ()))
    # The files that pytest would read, nearest first.
    conftests = (str(folder / "conftest.py") for folder in PurePosixPath(path).parents)
    for found in (path, *conftests):
        resolver.ask(MODULES, found.removesuffix(".py").replace("/", "."))
        for declaration in resolver.module_name(found, name):
            yield from resolver.resolve_alias(declaration)


def _is_fixture(resolver: NameResolver, function: ty.Definition) -> bool:
    for decorator in resolver.scope(function).decorators:
        maker = decorator.function if isinstance(decorator, ir.Call) else decorator
        if isinstance(maker, (ir.Attribute, ir.Name, ir.Variable)):
            made_by = (one.value for one in resolver.resolve(function.path, maker))
            if any(isinstance(one, ty.External) and one.name in _MAKERS for one in made_by):
                return True
    return False


def _given(evaluator: "TypeEvaluator", fixture: ty.Definition) -> ty.Types:
    scope = evaluator.resolver.scope(fixture)
    types = evaluator.calls.result(ty.FunctionObject(fixture))
    if scope.yielded:
        return evaluator.containers.elements(types, is_async=scope.is_async)
    return evaluator.containers.awaited(types) if scope.is_async else types
