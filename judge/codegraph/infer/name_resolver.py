"""Names -> what they are bound to, through scopes, imports, re-exports and star imports.

Every look-up of a module's name is noted, so that a file is linked again exactly when something
that it looked up has changed.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from judge.codegraph.facts import Expr, FileFacts, LexicalScope, imported_modules
from judge.codegraph.module_index import ModuleIndex

#: Imports may go in circles; nobody re-exports a name through more modules than this.
_MAX_HOPS = 12


#: Under this name, which no variable can have, it is noted that a file's imports were looked at.
IMPORTS = "import"


class Declaration(NamedTuple):
    """Something a name is bound to: an expression of a file, or a name outside (`path` empty).

    Beside the tags in `facts`, the expression may be `module`, `namespace` (with its name) or
    `ext` (with the full name of something outside the repository).
    """

    path: str
    value: Expr


_MODULE: Expr = ("module",)


class NameResolver:
    """Look names up; *load* gives the facts of a file by its path."""

    def __init__(self, modules: ModuleIndex, load: Callable[[str], FileFacts | None]) -> None:
        self.modules = modules
        self.load = load
        self.looked_up: dict[str, set[str]] = {}
        self._names_of: dict[str, dict[int, str]] = {}
        self.asked_modules: set[str] = set()
        self._imported: dict[tuple[str, bool], set[str]] = {}

    def scope(self, path: str, place: int) -> LexicalScope:
        """LexicalScope number *place* of the file at *path*."""
        facts = self.load(path)
        assert facts is not None
        return facts.scopes[place]

    def follow(self, path: str, expr: Expr, hops: int = 0) -> Iterator[Declaration]:
        """What a name, a chain of names or an import finally stands for."""
        if hops > _MAX_HOPS:
            return
        for ref in self._step(path, expr, hops):
            yield from self.imports(ref, hops)

    def imports(self, ref: Declaration, hops: int = 0) -> Iterator[Declaration]:
        """What *ref* stands for once its imports are followed; a variable stays itself."""
        if ref.value[0] in ("j", "imp", "mod", "top"):
            yield from self.follow(ref.path, ref.value, hops + 1)
        else:
            yield ref

    def _step(self, path: str, expr: Expr, hops: int) -> list[Declaration]:  # noqa: PLR0911 - a table
        match expr[0]:
            case "v" | "j":
                return self.bindings(path, expr)
            case "n":
                return self.lookup(path, expr[1], expr[2])
            case "a":
                owners = self.follow(path, expr[1], hops + 1)
                return [found for owner in owners for found in self._attribute(owner, expr[2])]
            case "imp":
                return self.imported(path, expr[1], expr[2], expr[3])
            case "mod":
                return [self.module(path, expr[1])]
            case "top":
                self.module(path, expr[2])
                return [self.module(path, expr[1])]
        return [Declaration(path, expr)]

    def bindings(self, path: str, expr: Expr) -> list[Declaration]:
        """The bindings of a variable (tag `v` or `j`) that reach a place."""
        facts = self.load(path)
        assert facts is not None
        if path not in self._names_of:
            names = facts.scopes[0].names
            self._names_of[path] = {place: n for n, places in names.items() for place in places}
        names_of = self._names_of[path]
        for place in expr[1:]:
            if place in names_of:
                self.looked_up.setdefault(path, set()).add(names_of[place])
        return [Declaration(path, facts.values[place]) for place in expr[1:]]

    def _values(self, path: str) -> list[Expr]:
        facts = self.load(path)
        return facts.values if facts else []

    def _attribute(self, owner: Declaration, name: str) -> list[Declaration]:
        match owner.value[0]:
            case "module":
                return self.member(owner.path, name)
            case "namespace":
                return [self.module("", f"{owner.value[1]}.{name}")]
            case "ext":
                return [Declaration("", ("ext", f"{owner.value[1]}.{name}"))]
            case "cls":
                places = self.scope(owner.path, owner.value[1]).names.get(name, [])
                values = self._values(owner.path)
                return [Declaration(owner.path, values[place]) for place in places]
        return []

    def lookup(self, path: str, scope: int, name: str) -> list[Declaration]:
        """The bindings of *name*, seen from *scope* outwards, down to the builtins."""
        facts = self.load(path)
        assert facts is not None
        while scope > 0:
            found = facts.scopes[scope]
            places = found.names.get(name)
            if places and found.kind != "class":
                return declared([Declaration(path, facts.values[place]) for place in places])
            scope = found.parent
        return self.own(path, name) or [Declaration("", ("ext", f"builtins.{name}"))]

    def own(self, path: str, name: str, hops: int = 0) -> list[Declaration]:
        """The bindings of *name* in the module at *path*, its star imports included."""
        facts = self.load(path)
        if facts is None:
            return []
        self.looked_up.setdefault(path, set()).add(name)
        places = facts.scopes[0].names.get(name)
        if places:
            return declared([Declaration(path, facts.values[place]) for place in places])
        if hops > _MAX_HOPS:
            return []
        for level, module in reversed(facts.stars):
            source = self.module(path, self.modules.absolute(path, level, module))
            if source.value is _MODULE and self._exports(source.path, name):
                found = self.own(source.path, name, hops + 1)
                if found and not any(self._comes_from(path, ref, name) for ref in found):
                    return found
        return []

    def _comes_from(self, path: str, ref: Declaration, name: str) -> bool:
        """Whether *ref* is `from package import name`, the package being the module at *path*."""
        if ref.value[0] != "imp" or ref.value[3] != name:
            return False
        full = self.modules.absolute(ref.path, ref.value[1], ref.value[2])
        return self.module(ref.path, full).path == path

    def _exports(self, path: str, name: str) -> bool:
        facts = self.load(path)
        self.looked_up.setdefault(path, set()).add("__all__")
        if facts is None or facts.exports is None:
            return not name.startswith("_")
        return name in facts.exports

    def member(self, path: str, name: str) -> list[Declaration]:
        """`module.name` for the module at *path*: what it binds, else its submodule."""
        found = self.own(path, name)
        if found:
            return found
        inner = self.module(path, f"{self.modules.names[path]}.{name}")
        return [inner] if inner.value[0] != "ext" else []

    def imports_module(self, path: str, name: str, *, inside: bool = False) -> bool:
        """Whether `import package.name` stands in the file at *path*.

        *inside* the package, taking something from the module binds its name as well.
        """
        known = self._imported.get((path, inside))
        if known is None:
            self.looked_up.setdefault(path, set()).add(IMPORTS)
            facts = self.load(path)
            known = self._imported[path, inside] = {
                found
                for level, module in (imported_modules(facts, inside=inside) if facts else ())
                for found in _with_packages(self.modules.absolute(path, level, module))
            }
        return name in known

    def imported(self, path: str, level: int, module: str, name: str) -> list[Declaration]:
        """What `from module import name` binds in the file at *path*."""
        full = self.modules.absolute(path, level, module)
        source = self.module(path, full)
        if source.value is _MODULE:
            if source.path == path:
                inner = self.module(path, f"{full}.{name}")
                return [inner] if inner.value[0] != "ext" else []
            return self.member(source.path, name)
        return [self.module(path, f"{full}.{name}")]

    def module(self, importer: str, name: str) -> Declaration:
        """The module called *name*: a file, a namespace, or something outside."""
        self.asked_modules.add(name)
        found = self.modules.find(name, importer)
        if found is not None and self.load(found) is not None:
            return Declaration(found, _MODULE)
        if self.modules.is_namespace(name):
            return Declaration("", ("namespace", name))
        return Declaration("", ("ext", name))


def _with_packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)]


def declared(refs: list[Declaration]) -> list[Declaration]:
    """Of several bindings of a variable, those with a declared type, when there are any."""
    if len(refs) > 1:
        tags = {ref.value[0] for ref in refs}
        if "ann" in tags:
            return [ref for ref in refs if ref.value[0] in ("ann", "def", "cls")]
    return refs
