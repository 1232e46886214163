"""pytest's fixtures: the type of a test's parameter, found by its name as pytest does.

A fixture may be defined in the test's class, its module, or a `conftest.py` of its folder or one
above; the nearest wins. `@pytest.fixture(name="x")` gives it another name. No declared type says
so, so the result counts as inferred.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from codegraph import ir
from codegraph.facts import MODULES, fixture_key
from codegraph.infer import types as ty
from codegraph.infer.name_resolver import Declaration, NameResolver

if TYPE_CHECKING:
    from codegraph.infer.type_evaluator import TypeEvaluator

_FIXTURE_DECORATORS = frozenset({"pytest.fixture", "pytest_asyncio.fixture"})


def fixture_types(evaluator: "TypeEvaluator", function: ty.Definition, name: str) -> ty.Types:
    """The types of the fixture *name* in *function*, when that is a test or a fixture."""
    resolver = evaluator.resolver
    scope = resolver.scope(function)
    if not scope.name.startswith("test") and not _is_fixture(resolver, function):
        return ()
    for path, value, _ in _candidates(resolver, function.path, scope.parent, name):
        if isinstance(value, ir.FunctionBinding):
            fixture = ty.Definition(path, value.scope)
            if fixture != function and _is_fixture(resolver, fixture):
                return _value_types(evaluator, fixture)
    return ()


def _candidates(resolver: NameResolver, path: str, owner: int, name: str) -> Iterator[Declaration]:
    """The declarations of *name* in the class, the module and each `conftest.py`, in order."""
    scope = resolver.scope(ty.Definition(path, owner))
    keys = (fixture_key(name), name)
    if scope.kind == "class":
        for key in keys:
            yield from resolver.declarations(path, scope.names.get(key, ()))
    # In the order in which pytest looks.
    conftests = (str(folder / "conftest.py") for folder in PurePosixPath(path).parents)
    for file in (path, *conftests):
        resolver.record_lookup(MODULES, file.removesuffix(".py").replace("/", "."))
        for key in keys:
            for declaration in resolver.module_declarations(file, key):
                yield from resolver.resolve_alias(declaration)


def _is_fixture(resolver: NameResolver, function: ty.Definition) -> bool:
    for decorator in resolver.scope(function).decorators:
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        if isinstance(callee, (ir.Attribute, ir.Name, ir.Variable)):
            values = (d.value for d in resolver.resolve(function.path, callee))
            if any(isinstance(v, ty.External) and v.name in _FIXTURE_DECORATORS for v in values):
                return True
    return False


def _value_types(evaluator: "TypeEvaluator", fixture: ty.Definition) -> ty.Types:
    scope = evaluator.resolver.scope(fixture)
    types = evaluator.calls.result(ty.FunctionObject(fixture))
    if scope.yielded:
        return evaluator.containers.elements(types, is_async=scope.is_async)
    return evaluator.containers.awaited(types) if scope.is_async else types
