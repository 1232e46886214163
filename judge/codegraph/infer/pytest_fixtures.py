"""pytest's fixtures: what a parameter of a test stands for, found by its name as pytest does.

A fixture may be defined in the test's class, its module, or a `conftest.py` of its folder or one
above; the nearest is meant. Nobody declares this to a type checker, so it counts as inferred.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from judge.codegraph import ir
from judge.codegraph.infer import types as ty
from judge.codegraph.infer.name_resolver import Declaration

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

_MAKERS = frozenset({"pytest.fixture", "pytest_asyncio.fixture"})


class PytestFixtures:
    """Find fixtures and what they give; *evaluator* tells what functions return and yield."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

    def given(self, function: ty.Definition, name: str) -> ty.Types:
        """The types of the fixture *name* in *function*, when that can ask for one."""
        scope = self._evaluator.resolver.scope(function)
        if not scope.name.startswith("test") and not self._is_fixture(function):
            return ()
        for path, value, _ in self._candidates(function.path, scope.parent, name):
            if isinstance(value, ir.FunctionBinding):
                found = ty.Definition(path, value.scope)
                if found != function and self._is_fixture(found):
                    return self._types(found)
        return ()

    def _candidates(self, path: str, owner: int, name: str) -> Iterator[Declaration]:
        """What *name* is bound to in the class, the module and each `conftest.py`, in order."""
        resolver = self._evaluator.resolver
        scope = resolver.scope(ty.Definition(path, owner))
        if scope.kind == "class":
            yield from resolver.declarations(path, scope.names.get(name, ()))
        for found in (path, *_conftests(path)):
            resolver.asked_modules.add(found.removesuffix(".py").replace("/", "."))
            for declaration in resolver.module_name(found, name):
                yield from resolver.resolve_alias(declaration)

    def _is_fixture(self, function: ty.Definition) -> bool:
        decorators = self._evaluator.resolver.scope(function).decorators
        return any(self._makes_fixtures(function.path, decorator) for decorator in decorators)

    def _makes_fixtures(self, path: str, decorator: ir.Expr) -> bool:
        maker = decorator.function if isinstance(decorator, ir.Call) else decorator
        if not isinstance(maker, (ir.Attribute, ir.Name, ir.Variable)):
            return False
        declarations = self._evaluator.resolver.resolve(path, maker)
        return any(
            isinstance(d.value, ty.External) and d.value.name in _MAKERS for d in declarations
        )

    def _types(self, fixture: ty.Definition) -> ty.Types:
        scope = self._evaluator.resolver.scope(fixture)
        types = self._evaluator.calls.result(ty.FunctionObject(fixture))
        if scope.yielded:
            return self._evaluator.containers.elements(types, is_async=scope.is_async)
        return self._evaluator.containers.awaited(types) if scope.is_async else types


def _conftests(path: str) -> list[str]:
    """The `conftest.py` files that pytest would read for *path*, nearest first."""
    return [str(folder / "conftest.py") for folder in PurePosixPath(path).parents]
