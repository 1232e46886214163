"""Statements of a syntax tree -> facts: which bindings reach which line.

The reader walks a file once, from top to bottom. It keeps, for every variable, the bindings that
may reach the current statement (both branches of an `if`, the end of a loop's body at its start),
so that a name used twice for different things is not confused. Bodies of functions are read
after their module-level statement, for they run later.
"""

import ast
from typing import Any

from msgspec.structs import replace

from judge.codegraph import ir
from judge.codegraph.facts import LexicalScope, Parameter, ParameterKind, ScopeKind
from judge.codegraph.read.binding_reader import BindingReader
from judge.codegraph.read.expression_reader import Environment
from judge.codegraph.read.match_patterns import read_pattern
from judge.codegraph.read.syntax_trees import (
    FunctionNode,
    all_parameters,
    bound_names,
    chain_key,
    defaults_of,
    first_line,
)

#: A variable bound in more places than this has no telling type, and long lists cost time.
_MAX_BINDINGS = 32
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class StatementReader(BindingReader):
    """Read statements in order, keeping the variables that reach each one."""

    def __init__(self, type_params: dict[int, list[str]]) -> None:
        super().__init__()
        self._type_params = type_params
        self.module = LexicalScope("module", "", -1, 1, (1, 1))
        self.scopes.append(self.module)
        self._later: list[tuple[FunctionNode, int]] = []
        self._escapes: list[list[Environment]] = []
        self._overloads: set[int] = set()
        self._statements: dict[type[ast.AST], Any] = {
            ast.Expr: self._expression_statement,
            ast.Assign: self._assign,
            ast.AugAssign: self._augment,
            ast.AnnAssign: self._declare,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.Return: self._return,
            ast.If: self._if,
            ast.For: self._loop,
            ast.AsyncFor: self._loop,
            ast.While: self._loop,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.Match: self._match,
            ast.Assert: self._assert,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Global: self._global,
            ast.Nonlocal: self._nonlocal,
            ast.Continue: self._escape,
            ast.Break: self._escape,
        }
        if hasattr(ast, "TryStar"):
            self._statements[ast.TryStar] = self._try

    def top_level(self, statement: ast.stmt) -> None:
        """Read one statement of the module, and the functions in it."""
        self._statement(statement)
        while self._later:
            node, scope = self._later.pop()
            self._function_body(node, scope)

    # --- blocks -----------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> bool:
        """Read *statements*; True when control does not reach their end."""
        ended = False
        for statement in statements:
            ended = self._statement(statement) or ended
        return ended

    def _statement(self, node: ast.stmt) -> bool:
        reader = self._statements.get(type(node))
        if reader is not None:
            return bool(reader(node)) or isinstance(node, _JUMPS)
        if isinstance(node, getattr(ast, "TypeAlias", ())):
            self._type_alias(node)
            return False
        self._other(node)
        return isinstance(node, _JUMPS)

    def _expression_statement(self, node: ast.Expr) -> None:
        self.expression(node.value)

    def _escape(self, node: ast.stmt) -> None:
        del node
        if self._escapes:
            self._escapes[-1].append(self.environment)
            self.environment = dict(self.environment)

    def _branch(self, before: Environment, statements: list[ast.stmt]) -> Environment | None:
        """Read *statements* starting from *before*; the variables at their end, if reached."""
        self.environment = dict(before)
        return None if self._block(statements) else self.environment

    def _join(self, ends: list[Environment | None]) -> bool:
        """Go on with all *ends* that are reached; True when none is."""
        reached = [end for end in ends if end is not None]
        if not reached:
            return True
        joined = reached[0]
        for end in reached[1:]:
            joined = self._merge(joined, end)
        self.environment = joined
        return False

    def _merge(self, one: Environment, other: Environment) -> Environment:
        merged: Environment = {}
        for name, ids in one.items():
            if name in other:
                theirs = other[name]
                both = self._before_narrowing(ids, theirs) if ids != theirs else ids
                if both:
                    merged[name] = both
            elif self._is_binding(name, ids):
                merged[name] = ids
        for name, ids in other.items():
            if name not in one and self._is_binding(name, ids):
                merged[name] = ids
        return merged

    def _before_narrowing(self, ids: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
        """What holds where two branches meet: both, or what one test narrowed in two ways."""
        match self.bindings[ids[-1]], self.bindings[theirs[-1]]:
            case ir.Narrowed(value=one, holds=here), ir.Narrowed(value=other, holds=there) if (
                here is not there and one == other
            ):
                return one.bindings if isinstance(one, ir.Variable) else ()
        return tuple(dict.fromkeys(ids + theirs))[-_MAX_BINDINGS:]

    def _is_binding(self, name: str, ids: tuple[int, ...]) -> bool:
        return "." not in name and not isinstance(self.bindings[ids[0]], ir.Narrowed)

    def _if(self, node: ast.If) -> bool:
        self.expression(node.test)
        before = self.environment
        self.environment = dict(before)
        self.narrow(node.test, holds=True)
        then = self._branch(self.environment, node.body)
        self.environment = dict(before)
        self.narrow(node.test, holds=False)
        otherwise = self._branch(self.environment, node.orelse)
        return self._join([then, otherwise])

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        iterated = None if isinstance(node, ast.While) else self.expression(node.iter)
        labels: dict[str, tuple[int, tuple[int, ...]]] = {}
        for name in sorted(bound_names([node])):
            ids = self.environment.get(name)
            if ids is not None:
                place = self.add_binding(ir.LoopLabel(ids))
                labels[name] = (place, ids)
                self.environment[name] = (place,)
        before = self.environment
        self.environment = dict(before)
        self._escapes.append([])
        if isinstance(node, ast.While):
            self.expression(node.test)
            self.narrow(node.test, holds=True)
        elif iterated is not None:
            self.assign(node.target, ir.Element(iterated, isinstance(node, ast.AsyncFor)))
        end = None if self._block(node.body) else self.environment
        ends = [end, *self._escapes.pop()]
        self._join(ends)
        for name, (place, ids) in labels.items():
            around = [i for e in ends if e is not None for i in e.get(name, ()) if i != place]
            self.bindings[place] = ir.LoopLabel(tuple(dict.fromkeys([*ids, *around])))
        self._join([before, *ends])
        self._block(node.orelse)
        return False

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        is_async = isinstance(node, ast.AsyncWith)
        for item in node.items:
            entered = ir.Entered(self.expression(item.context_expr), is_async)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
        return self._block(node.body)

    def _try(self, node: ast.Try) -> bool:
        before = self.environment
        body = self._branch(before, node.body)
        after_body = self.environment
        ends: list[Environment | None] = []
        for handler in node.handlers:
            self.environment = self._merge(before, after_body)
            if handler.type is not None:
                caught = self.expression(handler.type)
                if handler.name:
                    # A class, or one of a tuple of classes.
                    raised = ir.FirstKnown((ir.Call(caught), ir.Call(ir.Element(caught))))
                    self.bind(handler.name, raised)
            ends.append(None if self._block(handler.body) else self.environment)
        if body is not None:
            body = self._branch(body, node.orelse)
        ended = self._join([body, *ends])
        if ended and node.finalbody:
            self.environment = self._merge(before, after_body)
        return self._block(node.finalbody) or ended

    def _match(self, node: ast.Match) -> bool:
        subject = self.expression(node.subject)
        before = self.environment
        ends: list[Environment | None] = []
        for case in node.cases:
            self.environment = dict(before)
            read_pattern(self, case.pattern, subject, chain_key(node.subject))
            if case.guard is not None:
                self.expression(case.guard)
                self.narrow(case.guard, holds=True)
            ends.append(None if self._block(case.body) else self.environment)
        return self._join([*ends, before])

    def _assert(self, node: ast.Assert) -> None:
        self._other(node)
        self.narrow(node.test, holds=True)

    def _return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.scopes[self.scope].returned.append(self.expression(node.value))

    # --- definitions ------------------------------------------------------------------------

    def _open(self, kind: ScopeKind, node: FunctionNode | ast.ClassDef) -> int:
        span = (first_line(node), node.end_lineno or node.lineno)
        self.scopes.append(LexicalScope(kind, node.name, self.scope, node.lineno, span))
        return len(self.scopes) - 1

    def _function(self, node: FunctionNode) -> None:
        place = self._open("function", node)
        scope = self.scopes[place]
        outer, self.source = self.source, place
        scope.is_async = isinstance(node, ast.AsyncFunctionDef)
        scope.decorators = [self.expression(decorator) for decorator in node.decorator_list]
        around = self.environment
        scope.type_params = self._bind_type_parameters(node)
        scope.params = self._parameters(node.args)
        if node.returns is not None:
            scope.returns = self.annotation(node.returns)
        self.source, self.environment = outer, around
        earlier = [i for i in around.get(node.name, ()) if i in self._overloads]
        binding = self.assign_name(node.name, ir.FunctionBinding(place))
        if earlier:
            around[node.name] = (*earlier, *around[node.name])
        if any(_is_overload(decorator) for decorator in node.decorator_list):
            self._overloads.add(binding)
        self._later.append((node, place))

    def _parameters(self, arguments: ast.arguments) -> list[Parameter]:
        defaults = defaults_of(arguments)
        kinds: dict[int, ParameterKind] = {id(p): "k" for p in arguments.kwonlyargs}
        kinds |= {id(arguments.vararg): "*", id(arguments.kwarg): "**"}
        read = []
        for parameter in all_parameters(arguments):
            noted = parameter.annotation
            annotation = self.annotation(noted) if noted is not None else None
            found = defaults.get(parameter.arg)
            default = self.expression(found) if found is not None else None
            kind = kinds.get(id(parameter), "p")
            read.append(Parameter(parameter.arg, kind, annotation, default))
        return read

    def _function_body(self, node: FunctionNode, place: int) -> None:
        outer = (self.scope, self.source, self.environment, self._escapes)
        self.scope = self.source = place
        self.environment, self._escapes = {}, []
        for index, parameter in enumerate(self.scopes[place].params):
            self.bind(parameter.name, ir.ParameterBinding(place, index))
            if parameter.annotation is not None and parameter.kind in "pk":
                self._declared[place, parameter.name] = parameter.annotation
        self._block(node.body)
        self.scope, self.source, self.environment, self._escapes = outer

    def _class(self, node: ast.ClassDef) -> None:
        place = self._open("class", node)
        scope = self.scopes[place]
        outer = (self.scope, self.source, self.environment, self._escapes)
        self.source = place
        scope.decorators = [self.expression(decorator) for decorator in node.decorator_list]
        around = self.environment
        scope.type_params = self._bind_type_parameters(node)
        scope.bases = [self._base(base) for base in node.bases]
        for keyword in node.keywords:
            self.expression(keyword.value)
        self.scope, self.environment, self._escapes = place, dict(self.environment), []
        self._block(node.body)
        self.scope, self.source, _, self._escapes = outer
        self.environment = around
        self.assign_name(node.name, ir.ClassBinding(place))

    def _bind_type_parameters(self, node: FunctionNode | ast.ClassDef) -> list[int]:
        """Let the type parameters of *node* be visible in a copy of the variables."""
        names = [parameter.name for parameter in getattr(node, "type_params", [])]
        names = names or self._type_params.get(node.lineno, [])
        self.environment = dict(self.environment)
        places = []
        for name in names:
            place = self.add_binding(ir.TypeParameter(len(self.bindings)))
            self.environment[name] = (place,)
            self.scopes[-1].names.setdefault(name, []).append(place)
            places.append(place)
        return places

    def _base(self, node: ast.expr) -> ir.Expr:
        first = len(self.occurrences)
        fact = self.annotation(node)
        outermost = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(outermost, (ast.Name, ast.Attribute)):
            base = fact.receiver if isinstance(fact, ir.Subscript) else fact
            for place in range(len(self.occurrences) - 1, first - 1, -1):
                if self.occurrences[place].target == base:
                    self.occurrences[place] = replace(self.occurrences[place], kind="inherits")
                    break
        return fact


def _is_overload(decorator: ast.expr) -> bool:
    return "overload" in (getattr(decorator, "id", None), getattr(decorator, "attr", None))
