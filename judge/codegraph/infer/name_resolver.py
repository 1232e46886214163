"""Names -> what they are bound to, through scopes, imports, re-exports and star imports.

Every look-up of a module's name is noted, so that a file is linked again exactly when something
that it looked up has changed.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from judge.codegraph import ir
from judge.codegraph.facts import MODULES, FileFacts, LexicalScope, VariableSymbol
from judge.codegraph.infer import types as ty
from judge.codegraph.module_index import ModuleIndex, is_python

LoadFacts: TypeAlias = Callable[[str], FileFacts | None]
Module: TypeAlias = ty.ModuleObject | ty.NamespacePackage | ty.External

_ALIASES = (ir.Alias, ir.ImportFrom, ir.ImportModule)
#: Bindings that say what a name is, whatever is assigned to it.
DECLARING = (ir.AnnotatedVariable, ir.FunctionBinding, ir.ClassBinding)

#: Imports may go in circles; nobody re-exports a name through more modules than this.
_MAX_HOPS = 12


class Declaration(NamedTuple):
    """Something a name is bound to: a binding in the file at *path*, or a module.

    The path is empty for modules that are no file and for anything outside the repository.
    *place* is the binding's place in its file, -1 for what is none.
    """

    path: str
    value: ir.Binding | Module
    place: int = -1


class NameResolver:
    """Look names up; *load* gives the facts of a file by its path."""

    def __init__(self, modules: ModuleIndex, load: LoadFacts) -> None:
        self.modules = modules
        self._load = load
        #: The names that were looked up, by the file that may bind them.
        self.asked: dict[str, set[str]] = {}
        #: A package that takes all names of a hundred modules is asked for the same ones often.
        self._module_names: dict[tuple[str, str], list[Declaration]] = {}
        self._module_variables: dict[str, dict[int, str]] = {}
        self._variables: dict[str, dict[int, VariableSymbol]] = {}

    def ask(self, place: str, name: str) -> None:
        """Note that what is told depends on what *name* means in a file, MODULES or MEMBERS."""
        self.asked.setdefault(place, set()).add(name)

    def facts(self, path: str) -> FileFacts:
        """The facts of a file that has some."""
        facts = self._load(path)
        assert facts is not None
        return facts

    def scope(self, definition: ty.Definition) -> LexicalScope:
        """What the file says about a class or function."""
        return self.facts(definition.path).scopes[definition.scope]

    def declarations(self, path: str, bindings: Iterable[int]) -> list[Declaration]:
        """The *bindings* of the file at *path*, by their places."""
        known = self.facts(path).bindings
        return [Declaration(path, known[place], place) for place in bindings]

    def variable_symbol(self, path: str, place: int) -> VariableSymbol | None:
        """The module variable or attribute that the binding at *place* gives a value, if any."""
        known = self._variables.get(path)
        if known is None:
            facts = self.facts(path)
            known = self._variables[path] = {
                found: one
                for one in facts.variables
                for names in (facts.scopes[one.scope].names, facts.scopes[one.scope].attributes)
                for found in names.get(one.name, ())
            }
        return known.get(place)

    def resolve(self, path: str, expr: ir.Binding, hops: int = 0) -> list[Declaration]:
        """What a name, a chain of names or an import finally stands for."""
        if hops > _MAX_HOPS:
            return []
        found = []
        for declaration in self._step(path, expr, hops):
            found += self.resolve_alias(declaration, hops)
        return found

    def resolve_alias(self, declaration: Declaration, hops: int = 0) -> list[Declaration]:
        """What *declaration* stands for once its imports are followed; a variable stays itself."""
        value = declaration.value
        if isinstance(value, _ALIASES):
            return self.resolve(declaration.path, value, hops + 1)
        return [declaration]

    def _step(self, path: str, expr: ir.Binding, hops: int) -> list[Declaration]:
        match expr:
            case ir.Variable(bindings=bindings):
                return self.variable(path, bindings)
            case ir.Name(scope=scope, name=name) | ir.Alias(scope=scope, name=name):
                return self.look_up(path, scope, name)
            case ir.Attribute(receiver=receiver, name=name):
                owners = self.resolve(path, receiver, hops + 1)
                return [found for owner in owners for found in self._attribute(owner, name)]
            case ir.ImportFrom():
                return self._imported_name(path, expr)
            case ir.ImportModule(module=module, bound=bound):
                self.module(path, module)
                return [self.module(path, bound)]
        return [Declaration(path, expr)]

    def variable(self, path: str, bindings: tuple[int, ...]) -> list[Declaration]:
        """The bindings of a variable that reach a place."""
        names = self._module_variables.get(path)
        if names is None:
            scope = self.facts(path).scopes[0]
            names = {place: name for name, places in scope.names.items() for place in places}
            self._module_variables[path] = names
        for place in bindings:
            if place in names:
                self.ask(path, names[place])
        return self.declarations(path, bindings)

    def _attribute(self, owner: Declaration, name: str) -> list[Declaration]:
        if isinstance(owner.value, ir.ClassBinding):
            scope = self.scope(ty.Definition(owner.path, owner.value.scope))
            return self.declarations(owner.path, scope.names.get(name, ()))
        return self.outer_member(owner.value, name)

    def outer_member(self, owner: ir.Binding | ty.Type, name: str) -> list[Declaration]:
        """What *owner* calls *name* if it is a module, or is from outside the repository."""
        match owner:
            case ty.ModuleObject(path=path):
                return self.module_member(path, name)
            case ty.NamespacePackage(name=package):
                return self._submodule("", f"{package}.{name}")
            case ty.External(name=outer):
                return [Declaration("", ty.External(f"{outer}.{name}"))]
        return []

    def look_up(self, path: str, place: int, name: str) -> list[Declaration]:
        """The bindings of *name*, seen from scope *place* outwards, down to the builtins."""
        scopes = self.facts(path).scopes
        while place > 0:
            scope = scopes[place]
            bindings = scope.names.get(name, [])
            if scope.kind == "class":
                # Of its own names methods see just these.
                bindings = [one for one in bindings if one in scope.type_params]
            if bindings:
                return declared(self.declarations(path, bindings))
            place = scope.parent
        return self.module_name(path, name) or [Declaration("", ty.External(f"builtins.{name}"))]

    def module_name(self, path: str, name: str) -> list[Declaration]:
        """The bindings of *name* in the module at *path*, its star imports included."""
        key = path, name
        if key not in self._module_names:
            self._module_names[key] = self._module_name(path, name, 0)
        return self._module_names[key]

    def _module_name(self, path: str, name: str, hops: int) -> list[Declaration]:
        facts = self._load(path)
        if facts is None:
            return []
        self.ask(path, name)
        bindings = facts.scopes[0].names.get(name)
        if bindings:
            return declared(self.declarations(path, bindings))
        if hops > _MAX_HOPS:
            return []
        for level, module in reversed(facts.star_imports):
            source = self.module(path, self.modules.absolute(path, level, module))
            if isinstance(source.value, ty.ModuleObject) and self._exports(source.path, name):
                found = self._module_name(source.path, name, hops + 1)
                if found and not any(self._comes_from(path, one, name) for one in found):
                    return found
        return []

    def _comes_from(self, path: str, declaration: Declaration, name: str) -> bool:
        """Whether this is `from package import name`, the package being the module at *path*.

        Half of what files of TypeScript name goes through such: they import from an `index.ts`
        that passes on all that they export.
        """
        value = declaration.value
        if not isinstance(value, ir.ImportFrom) or value.name != name:
            return False
        full = self.modules.absolute(declaration.path, value.level, value.module)
        return self.module(declaration.path, full).path == path

    def _exports(self, path: str, name: str) -> bool:
        self.ask(path, "__all__")
        exports = self.facts(path).exports
        if exports is not None:
            return name in exports
        return not name.startswith("_") if is_python(path) else name != "default"

    def module_member(self, path: str, name: str) -> list[Declaration]:
        """`module.name` for the module at *path*: what it binds, else its submodule."""
        found = self.module_name(path, name)
        return found or self._submodule(path, self.modules.within(path, name))

    def _submodule(self, path: str, name: str) -> list[Declaration]:
        inner = self.module(path, name)
        return [] if isinstance(inner.value, ty.External) else [inner]

    def _imported_name(self, path: str, imported: ir.ImportFrom) -> list[Declaration]:
        full = self.modules.absolute(path, imported.level, imported.module)
        source = self.module(path, full)
        if not isinstance(source.value, ty.ModuleObject):
            return [self.module(path, f"{full}.{imported.name}".lstrip("."))]
        if source.path == path:
            return self._submodule(path, self.modules.within(path, imported.name))
        return self.module_member(source.path, imported.name)

    def module(self, importer: str, name: str) -> Declaration:
        """The module called *name*: a file, a namespace, or something outside."""
        for full in self.modules.full_names(name, importer):
            self.ask(MODULES, full)
            found = self.modules.find(full, importer)
            if found is not None and self._load(found) is not None:
                return Declaration(found, ty.ModuleObject(found))
        if self.modules.is_namespace(name):
            return Declaration("", ty.NamespacePackage(name))
        return Declaration("", ty.External(name))


def declared(declarations: list[Declaration]) -> list[Declaration]:
    """Of several bindings of a variable, those with a declared type, when there are any."""
    if len(declarations) < 2:
        return declarations
    has_type = any(isinstance(d.value, ir.AnnotatedVariable) for d in declarations)
    return [d for d in declarations if not has_type or isinstance(d.value, DECLARING)]
