"""Statements of a syntax tree -> facts: which bindings reach which line.

The reader walks a file once, from top to bottom. It keeps, for every variable, the bindings that
may reach the current statement (both branches of an `if`), so that a name used twice for different
things is not confused; a loop's body is read as if it ran once. Bodies of functions are read after
their module-level statement, for they run later.
"""

import ast
from typing import NamedTuple

from judge.codegraph import ir
from judge.codegraph.facts import FileFacts, Parameter, ScopeKind
from judge.codegraph.read.binding_reader import BindingReader
from judge.codegraph.read.environment import Changes, Environment
from judge.codegraph.read.syntax_trees import (
    FunctionNode,
    chain_key,
    each_parameter,
    first_line,
    parse_type_parameter,
)

#: A variable bound in more places than this has no telling type, and long lists cost time.
_MAX_BINDINGS = 32
#: What `break` and `continue` leave reaches the end of a loop, to which the rest goes as well.
_JUMPS = (ast.Return, ast.Raise)


class _Branch(NamedTuple):
    """What a branch changes, and whether control reaches its end."""

    changes: Changes
    is_reached: bool = True


class StatementReader(BindingReader):
    """Read statements in order, keeping the variables that reach each one."""

    def __init__(self, facts: FileFacts, type_params: dict[int, list[tuple[int, str]]]) -> None:
        """Add to *facts*; *type_params* are those by line that this Python cannot parse."""
        super().__init__(facts)
        self._type_params = type_params
        self._later: list[tuple[FunctionNode, int]] = []

    def top_level(self, statement: ast.stmt) -> None:
        """Read one statement of the module, with the functions in it."""
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
        """Read one statement; True when control does not reach its end."""
        return self.visit(node) is True or isinstance(node, _JUMPS)

    def _branch(self, statements: list[ast.stmt]) -> _Branch:
        """Read *statements* to the end of the branch that has been started."""
        ended = self._block(statements)
        return _Branch(self.environment.end_branch(), is_reached=not ended)

    def _join(self, branches: list[_Branch]) -> bool:
        """Go on with all *branches* whose end is reached; True when none is."""
        reached = [branch.changes for branch in branches if branch.is_reached]
        self.environment.update(self._merged(reached) if reached else branches[-1].changes)
        return not reached

    def _merged(self, ends: list[Changes]) -> Changes:
        """The changes of several branches as those of one."""
        merged = {}
        for name in dict.fromkeys(name for changes in ends for name in changes):
            met, *others = [changes.get(name, self.environment[name]) for changes in ends]
            for other in others:
                met = self._met(name, met, other)
            merged[name] = met
        return merged

    def _met(self, name: str, ids: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
        """The bindings of *name* where two branches meet."""
        if ids == theirs:
            return ids
        if ids and theirs:
            return self._before_narrowing(ids, theirs)
        either = ids or theirs
        is_narrowed = "." in name or isinstance(self.bindings[either[0]], ir.Narrowed)
        return () if is_narrowed else either

    def _before_narrowing(self, ids: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
        """What holds where two branches meet: both, or what one test narrowed in two ways."""
        match self.bindings[ids[-1]], self.bindings[theirs[-1]]:
            case ir.Narrowed(value=one, holds=here), ir.Narrowed(value=other, holds=there) if (
                here is not there and one == other
            ):
                return one.bindings if isinstance(one, ir.Variable) else ()
        return tuple(dict.fromkeys(ids + theirs))[-_MAX_BINDINGS:]

    def visit_If(self, node: ast.If) -> bool:
        self.visit(node.test)
        branches = []
        for holds, statements in ((True, node.body), (False, node.orelse)):
            self.environment.start_branch()
            self.narrow(node.test, holds=holds)
            branches.append(self._branch(statements))
        return self._join(branches)

    def visit_For(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        iterated = None if isinstance(node, ast.While) else self.visit(node.iter)
        self.environment.start_branch()
        if isinstance(node, ast.While):
            self.visit(node.test)
            self.narrow(node.test, holds=True)
        elif iterated is not None:
            how = "async for" if isinstance(node, ast.AsyncFor) else "for"
            self.assign(node.target, ir.Taken(iterated, how))
        body = self._branch(node.body)
        self._join([_Branch({}), body])
        self._block(node.orelse)
        return False

    visit_AsyncFor = visit_For
    visit_While = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> bool:
        how = "async with" if isinstance(node, ast.AsyncWith) else "with"
        for item in node.items:
            entered = ir.Taken(self.visit(item.context_expr), how)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
        return self._block(node.body)

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try | ast.TryStar) -> bool:
        self.environment.start_branch()
        body = self._branch(node.body)
        # An exception may come before or after anything that the body binds.
        interrupted = self._merged([{}, body.changes])
        handlers = [self._handler(handler, interrupted) for handler in node.handlers]
        if body.is_reached and node.orelse:
            self.environment.start_branch()
            self.environment.update(body.changes)
            body = self._branch(node.orelse)
        ended = self._join([body, *handlers])
        return self._block(node.finalbody) or ended

    visit_TryStar = visit_Try

    def _handler(self, node: ast.ExceptHandler, interrupted: Changes) -> _Branch:
        self.environment.start_branch()
        self.environment.update(interrupted)
        if node.type is not None:
            caught = self.visit(node.type)
            if node.name:
                # A class, or one of a tuple of classes.
                raised = ir.Alternatives((ir.Call(caught), ir.Call(ir.Taken(caught))))
                self.bind(node.name, raised)
        return self._branch(node.body)

    def visit_Match(self, node: ast.Match) -> bool:
        subject = self.visit(node.subject)
        branches = []
        for case in node.cases:
            self.environment.start_branch()
            self._pattern(case.pattern, subject, chain_key(node.subject))
            if case.guard is not None:
                self.visit(case.guard)
                self.narrow(case.guard, holds=True)
            branches.append(self._branch(case.body))
        return self._join([*branches, _Branch({})])

    def _pattern(self, pattern: ast.pattern, subject: ir.Expr, key: str | None = None) -> ir.Expr:
        """Read *pattern*, matched against *subject*, and return what is known of it then.

        *key* is the variable that holds the subject, when it is one.
        """
        match pattern:
            case ast.MatchClass():
                return self._class_pattern(pattern, subject, key)
            case ast.MatchAs(pattern=inner, name=name):
                known = subject if inner is None else self._pattern(inner, subject, key)
                if name is not None:
                    self.bind(name, known)
                return known
            case ast.MatchOr(patterns=patterns):
                return ir.Alternatives(tuple(self._pattern(one, subject) for one in patterns))
            case ast.MatchValue(value=value):
                self.visit(value)
            case ast.MatchStar(name=str(name)):
                self.bind(name, ir.UNKNOWN)
            case ast.MatchSequence(patterns=patterns) | ast.MatchMapping(patterns=patterns):
                for one in patterns:
                    self._pattern(one, ir.UNKNOWN)
        return subject

    def _class_pattern(self, pattern: ast.MatchClass, subject: ir.Expr, key: str | None) -> ir.Expr:
        cls = self.visit(pattern.cls)
        known = ir.Narrowed(subject, cls)
        if key is not None:
            self.environment[key] = (self.add_binding(known),)
        for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            self.add_occurrence(inner.lineno, "references", ir.Attribute(ir.Call(cls), name))
            self._pattern(inner, ir.Attribute(known, name))
        for inner in pattern.patterns:
            self._pattern(inner, ir.UNKNOWN)
        return known

    def visit_Assert(self, node: ast.Assert) -> None:
        self.generic_visit(node)
        self.narrow(node.test, holds=True)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.scopes[self.scope].returned.append(self.visit(node.value))

    # --- definitions ------------------------------------------------------------------------

    def _open(self, kind: ScopeKind, node: FunctionNode | ast.ClassDef) -> int:
        span = (first_line(node), node.end_lineno or node.lineno)
        return self.open_scope(kind, node.name, node.lineno, span)

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        place = self._open("function", node)
        scope = self.scopes[place]
        outer, self.source = self.source, place
        scope.is_async = isinstance(node, ast.AsyncFunctionDef)
        scope.decorators = [self.visit(decorator) for decorator in node.decorator_list]
        self.environment.start_branch()
        scope.type_params = self._bind_type_parameters(node)
        scope.params = self._parameters(node.args)
        if node.returns is not None:
            scope.returns = self.annotation(node.returns)
        self.environment.end_branch()
        self.source = outer
        self.assign_name(node.name, ir.FunctionBinding(place))
        self._later.append((node, place))

    visit_AsyncFunctionDef = visit_FunctionDef

    def _parameters(self, arguments: ast.arguments) -> list[Parameter]:
        read = []
        for kind, parameter, default in each_parameter(arguments):
            noted = parameter.annotation
            annotation = self.annotation(noted) if noted is not None else None
            value = self.visit(default) if default is not None else None
            read.append(Parameter(parameter.arg, kind, annotation, value))
        return read

    def _function_body(self, node: FunctionNode, place: int) -> None:
        outer = (self.scope, self.source, self.environment)
        self.scope = self.source = place
        self.environment = Environment()
        for index, parameter in enumerate(self.scopes[place].params):
            self.bind(parameter.name, ir.ParameterBinding(place, index))
            if parameter.annotation is not None and parameter.kind in "pk":
                self._declared[place, parameter.name] = parameter.annotation
        self._block(node.body)
        self.scope, self.source, self.environment = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        place = self._open("class", node)
        scope = self.scopes[place]
        outer = (self.scope, self.source)
        self.source = place
        scope.decorators = [self.visit(decorator) for decorator in node.decorator_list]
        self.environment.start_branch()
        scope.type_params = self._bind_type_parameters(node)
        scope.bases = [self._base(base) for base in node.bases]
        for keyword in node.keywords:
            self.visit(keyword.value)
        self.scope = place
        self._block(node.body)
        self.scope, self.source = outer
        self.environment.end_branch()
        self.assign_name(node.name, ir.ClassBinding(place))

    def _bind_type_parameters(self, node: FunctionNode | ast.ClassDef) -> list[int]:
        """Let the type parameters of *node* be visible in this branch."""
        given = [
            (one.name, getattr(one, "bound", None)) for one in getattr(node, "type_params", [])
        ]
        newer = self._type_params.get(node.lineno, [])
        places = []
        for name, bound in given or [parse_type_parameter(line, text) for line, text in newer]:
            fact = self.annotation(bound) if bound is not None else None
            place = self.add_binding(ir.TypeParameter(len(self.bindings), fact))
            self.environment[name] = (place,)
            self.scopes[-1].names.setdefault(name, []).append(place)
            places.append(place)
        return places

    def _base(self, node: ast.expr) -> ir.Expr:
        first = len(self.occurrences)
        fact = self.annotation(node)
        outermost = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(outermost, (ast.Name, ast.Attribute)):
            self.as_kind("inherits", fact, first)
        return fact
