"""pytest's fixtures: what a parameter of a test stands for, found by its name as pytest does.

A fixture may be defined in the test's class, its module, or a `conftest.py` of its folder or one
above; the nearest is meant. Nobody declares this to a type checker, so it counts as inferred.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from judge.codegraph.facts import Expr
from judge.codegraph.infer.annotations import Types
from judge.codegraph.infer.name_resolver import Declaration

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

_MAKERS = frozenset({"pytest.fixture", "pytest_asyncio.fixture"})


class PytestFixtures:
    """Find fixtures and what they give; *inference* tells what functions return and yield."""

    def __init__(self, inference: "TypeEvaluator") -> None:
        self._inference = inference

    def given(self, path: str, place: int, name: str) -> Types:
        """The types of the fixture *name* in the function at *place*, when that can ask for one."""
        function = self._inference.resolver.scope(path, place)
        if not function.name.startswith("test") and not self._is_fixture(path, place):
            return ()
        for ref in self._candidates(path, function.parent, name):
            here = (ref.path, ref.value[1]) == (path, place)
            if ref.value[0] == "def" and not here and self._is_fixture(ref.path, ref.value[1]):
                return self._made(ref.path, ref.value[1])
        return ()

    def _candidates(self, path: str, owner: int, name: str) -> Iterator[Declaration]:
        """What *name* is bound to in the class, the module and each `conftest.py`, in order."""
        resolver = self._inference.resolver
        facts = resolver.load(path)
        assert facts is not None
        scope = facts.scopes[owner]
        if scope.kind == "class":
            yield from (
                Declaration(path, facts.values[found]) for found in scope.names.get(name, [])
            )
        for found in (path, *_conftests(path)):
            resolver.asked_modules.add(found.removesuffix(".py").replace("/", "."))
            for ref in resolver.own(found, name):
                yield from resolver.imports(ref)

    def _is_fixture(self, path: str, place: int) -> bool:
        decorators = self._inference.resolver.scope(path, place).decorators
        return any(self._makes_fixtures(path, decorator) for decorator in decorators)

    def _makes_fixtures(self, path: str, decorator: Expr) -> bool:
        maker = decorator[1] if decorator[0] == "c" else decorator
        if maker[0] not in "anv":
            return False
        refs = self._inference.resolver.follow(path, maker)
        return any(ref.value[0] == "ext" and ref.value[1] in _MAKERS for ref in refs)

    def _made(self, path: str, place: int) -> Types:
        scope = self._inference.resolver.scope(path, place)
        types = self._inference.calls.result(("F", path, place, None))
        if scope.yielded:
            return self._inference.containers.elements(types, scope.is_async)
        return self._inference.containers.awaited(types) if scope.is_async else types


def _conftests(path: str) -> list[str]:
    """The `conftest.py` files that pytest would read for *path*, nearest first."""
    return [str(folder / "conftest.py") for folder in PurePosixPath(path).parents]
