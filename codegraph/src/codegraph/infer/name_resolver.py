"""Names -> their declarations, through scopes, imports, re-exports and star imports.

The files, module names and members that were looked up are recorded, so that a file is linked
again when one of them has changed.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from codegraph import ir
from codegraph.facts import FileFacts, LexicalScope, VariableSymbol
from codegraph.infer import types as ty
from codegraph.module_index import ModuleIndex, is_python

LoadFacts: TypeAlias = Callable[[str], FileFacts | None]
Module: TypeAlias = ty.ModuleObject | ty.NamespacePackage | ty.External

_ALIASES = (ir.Alias, ir.ImportFrom, ir.ImportModule)
#: Bindings that declare what a name is; assignments do not.
DECLARING_BINDINGS = (ir.AnnotatedVariable, ir.FunctionBinding, ir.ClassBinding)

#: Imports may be circular; no real name is re-exported through more modules than this.
_MAX_HOPS = 12
#: Of one name in one scope; more say nothing new about its type, and each use would look at all.
MAX_BINDINGS = 32
MAX_STAR_MODULES = 64


class Declaration(NamedTuple):
    """What a name is bound to: a binding in the file at *path*, or a module.

    *path* is empty for namespace packages and for anything outside the repository. *binding* is the
    index of the binding in its file; -1 for a module.
    """

    path: str
    value: ir.Binding | Module
    binding: int = -1


class NameResolver:
    """Look names up; *load* gives the facts of a file by its path."""

    def __init__(self, modules: ModuleIndex, load: LoadFacts) -> None:
        self.modules = modules
        self._load = load
        #: What was looked up: the paths of files, names of modules, and members (`.name`).
        self.lookups: set[str] = set()
        #: A cache: a package with `import *` of a hundred modules is searched for each name often.
        self._module_declarations: dict[tuple[str, str], list[Declaration]] = {}
        self._stars: dict[str, list[str]] = {}
        self._variables: dict[str, dict[int, VariableSymbol]] = {}

    def facts(self, path: str) -> FileFacts:
        """The facts of a file that was parsed."""
        facts = self._load(path)
        assert facts is not None
        return facts

    def scope(self, definition: ty.Definition) -> LexicalScope:
        """The scope of a class or function."""
        return self.facts(definition.path).scopes[definition.scope]

    def declarations(self, path: str, bindings: Iterable[int]) -> list[Declaration]:
        """The *bindings*, given by index, of the file at *path*."""
        values = self.facts(path).bindings
        return [Declaration(path, values[index], index) for index in bindings]

    def variable_symbol(self, path: str, index: int) -> VariableSymbol | None:
        """The module variable or attribute that binding number *index* assigns to, if any."""
        variables = self._variables.get(path)
        if variables is None:
            facts = self.facts(path)
            variables = self._variables[path] = {
                binding: variable
                for variable in facts.variables
                for scope in (facts.scopes[variable.scope],)
                for names in (scope.names, scope.attributes)
                for binding in names.get(variable.name, ())
            }
        return variables.get(index)

    def resolve(self, path: str, expr: ir.Binding, hops: int = 0) -> list[Declaration]:
        """The declarations of a name, a dotted name or an import, with imports followed."""
        if hops > _MAX_HOPS:
            return []
        declarations = []
        for declaration in self._resolve_once(path, expr, hops):
            declarations += self.resolve_alias(declaration, hops)
        return declarations

    def resolve_alias(self, declaration: Declaration, hops: int = 0) -> list[Declaration]:
        """The declarations behind *declaration* if it is an import or alias, else itself."""
        value = declaration.value
        if isinstance(value, _ALIASES):
            return self.resolve(declaration.path, value, hops + 1)
        return [declaration]

    def _resolve_once(self, path: str, expr: ir.Binding, hops: int) -> list[Declaration]:
        match expr:
            case ir.Variable(bindings=bindings):
                return self.declarations(path, bindings)
            case ir.Name(scope=scope, name=name) | ir.Alias(scope=scope, name=name):
                return self.look_up(path, scope, name)
            case ir.Attribute(receiver=receiver, name=name):
                owners = self.resolve(path, receiver, hops + 1)
                return [d for owner in owners for d in self._attribute(owner, name)]
            case ir.ImportFrom():
                return self._imported_name(path, expr)
            case ir.ImportModule(module=module):
                return [self.module(path, module)]
        return [Declaration(path, expr)]

    def _attribute(self, owner: Declaration, name: str) -> list[Declaration]:
        if isinstance(owner.value, ir.ClassBinding):
            scope = self.scope(ty.Definition(owner.path, owner.value.scope))
            return self.declarations(owner.path, scope.names.get(name, ()))
        return self.namespace_member(owner.value, name)

    def namespace_member(self, owner: ir.Binding | ty.Type, name: str) -> list[Declaration]:
        """The declarations of `owner.name` for a module, namespace package or external *owner*."""
        match owner:
            case ty.ModuleObject(path=path):
                return self.module_member(path, name)
            case ty.NamespacePackage(name=package, importer=importer):
                return self._submodule(importer, f"{package}.{name}")
            case ty.External(name=outer):
                return [Declaration("", ty.External(f"{outer}.{name}"))]
        return []

    def look_up(self, path: str, index: int, name: str) -> list[Declaration]:
        """The declarations of *name*, from scope number *index* outwards to the builtins."""
        scopes = self.facts(path).scopes
        while index > 0:
            scope = scopes[index]
            bindings = scope.names.get(name, [])
            if scope.kind == "class":
                # Of the names in a class, only type parameters are visible inside its methods.
                bindings = [binding for binding in bindings if binding in scope.type_params]
            if bindings:
                return prefer_declared(self.declarations(path, bindings[:MAX_BINDINGS]))
            index = scope.parent
        declarations = self.module_declarations(path, name) if index != ir.BUILTIN else []
        return declarations or [Declaration("", ty.External(f"builtins.{name}"))]

    def module_declarations(self, path: str, name: str) -> list[Declaration]:
        """The declarations of *name* in the module at *path*, through its star imports too."""
        key = path, name
        if key not in self._module_declarations:
            self._module_declarations[key] = self._find_in_module(path, name)
        return self._module_declarations[key]

    def _find_in_module(self, path: str, name: str) -> list[Declaration]:
        """Search the module, then those it imports with `*`, the last one first, each once.

        At most MAX_STAR_MODULES, so that a ring of modules takes no longer for each of its members.
        """
        pending, seen = [path], {path}
        while pending and len(seen) - len(pending) < MAX_STAR_MODULES:
            current = pending.pop()
            facts = self._load(current)
            if facts is None:
                continue
            self.lookups.add(current)
            is_public = current == path or not facts.exports or name in facts.exports
            bindings = facts.scopes[0].names.get(name)
            if not bindings or not (is_public or is_python(current)):
                sources = [s for s in self._star_sources(current) if s not in seen]
                pending += [source for source in sources if self._exports(source, name)]
                seen.update(sources)
                continue
            found = prefer_declared(self.declarations(current, bindings[:MAX_BINDINGS]))
            if current == path or not any(self._is_reexport_of(seen, d, name) for d in found):
                return found
        return []

    def _star_sources(self, path: str) -> list[str]:
        """The modules that the module at *path* imports with `*`."""
        if path not in self._stars:
            modules = (
                self.module(path, self.modules.absolute(path, level, module)).value
                for level, module in self.facts(path).star_imports
            )
            self._stars[path] = [m.path for m in modules if isinstance(m, ty.ModuleObject)]
        return self._stars[path]

    def _is_reexport_of(self, paths: set[str], declaration: Declaration, name: str) -> bool:
        """Whether *declaration* imports *name* back from a module that was searched: a circle.

        Common in TypeScript, where files import from an `index.ts` that re-exports all of them.
        """
        value = declaration.value
        if not isinstance(value, ir.ImportFrom) or value.name != name:
            return False
        full = self.modules.absolute(declaration.path, value.level, value.module)
        return self.module(declaration.path, full).path in paths - {declaration.path}

    def _exports(self, path: str, name: str) -> bool:
        self.lookups.add(path)
        if not is_python(path):
            return name != "default"
        exports = self.facts(path).exports
        return not name.startswith("_") if exports is None else name in exports

    def module_member(self, path: str, name: str) -> list[Declaration]:
        """The declarations of `module.name` for the module at *path*; else its submodule."""
        declarations = self.module_declarations(path, name)
        return declarations or self._submodule(path, self.modules.qualified_name(path, name))

    def _submodule(self, path: str, name: str) -> list[Declaration]:
        inner = self.module(path, name)
        return [] if isinstance(inner.value, ty.External) else [inner]

    def _imported_name(self, path: str, imported: ir.ImportFrom) -> list[Declaration]:
        full = self.modules.absolute(path, imported.level, imported.module)
        source = self.module(path, full)
        if not isinstance(source.value, ty.ModuleObject):
            return [self.module(path, f"{full}.{imported.name}".lstrip("."))]
        if source.path == path:
            return self._submodule(path, self.modules.qualified_name(path, imported.name))
        return self.module_member(source.path, imported.name)

    def module(self, importer: str, name: str) -> Declaration:
        """The module that *name* refers to in *importer*: a file, namespace package or external."""
        for full in self.modules.candidate_names(name, importer):
            self.lookups.add(full)
            path = self.modules.find(full, importer)
            if path is not None and self._load(path) is not None:
                return Declaration(path, ty.ModuleObject(path))
        if self.modules.is_namespace(name, importer):
            return Declaration("", ty.NamespacePackage(name, importer))
        return Declaration("", ty.External(name))


def prefer_declared(declarations: list[Declaration]) -> list[Declaration]:
    """*declarations*, without mere assignments when one of them has a declared type."""
    if len(declarations) < 2:
        return declarations
    has_type = any(isinstance(d.value, ir.AnnotatedVariable) for d in declarations)
    return [d for d in declarations if not has_type or isinstance(d.value, DECLARING_BINDINGS)]
