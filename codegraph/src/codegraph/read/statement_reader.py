"""Statements of a syntax tree -> facts, with flow analysis: which bindings reach which line.

For every variable the reader keeps the bindings that may reach the current statement, from both
branches of an `if`. A loop body is read as if it ran once, and function bodies, which run later,
after their module-level statement.
"""

import ast
from functools import partial, reduce
from typing import NamedTuple

from codegraph import ir
from codegraph.facts import FileFacts, Parameter, ScopeKind, fixture_key
from codegraph.read import expression_reader as expressions
from codegraph.read.binding_reader import BindingReader

#: With more bindings than this a variable has no useful type, and long lists cost time.
_MAX_BINDINGS = 32
#: `break` and `continue` are left out: what they leave still reaches the end of the loop.
_EXITS = (ast.Return, ast.Raise)


class _Branch(NamedTuple):
    """What a branch changes, and whether control flow reaches its end."""

    changes: expressions.Changes
    is_reached: bool = True


class StatementReader(BindingReader):
    """Read statements in order, tracking the bindings that reach each one."""

    def __init__(self, facts: FileFacts) -> None:
        """Add to *facts*."""
        super().__init__(facts)
        self._pending_bodies: list[tuple[expressions.FunctionNode, int]] = []

    def read_top_level(self, statement: ast.stmt) -> None:
        """Read a module-level statement, then the bodies of the functions in it."""
        self._statement(statement)
        while self._pending_bodies:
            node, scope = self._pending_bodies.pop()
            self._function_body(node, scope)

    # --- blocks -----------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> bool:
        """Read *statements*; True when control flow does not reach their end."""
        return True in [self._statement(statement) for statement in statements]

    def _statement(self, node: ast.stmt) -> bool:
        """Read one statement; True when control flow does not reach its end."""
        return self.visit(node) is True or isinstance(node, _EXITS)

    def _branch(self, statements: list[ast.stmt]) -> _Branch:
        """Read *statements*, then end the branch that the caller started."""
        exits = self._block(statements)
        return _Branch(self.end_branch(), is_reached=not exits)

    def _join(self, branches: list[_Branch]) -> bool:
        """Join the *branches* whose end is reached; True when none is."""
        reached = [branch.changes for branch in branches if branch.is_reached]
        self.environment.update(self._joined(reached) if reached else branches[-1].changes)
        return not reached

    def _joined(self, ends: list[expressions.Changes]) -> expressions.Changes:
        """The changes of several branches, joined variable by variable."""
        joined = {}
        for name in dict.fromkeys(name for changes in ends for name in changes):
            bindings = [changes.get(name, self.environment[name]) for changes in ends]
            joined[name] = reduce(partial(self._join_bindings, name), bindings)
        return joined

    def _join_bindings(
        self, name: str, left: tuple[int, ...], right: tuple[int, ...]
    ) -> tuple[int, ...]:
        """The bindings of *name* after two branches join."""
        if left == right:
            return left
        if not (left and right):
            either = left or right
            is_narrowed = "." in name or isinstance(self.bindings[either[0]], ir.Narrowed)
            return () if is_narrowed else either
        # Both, or those before one test narrowed them in opposite ways.
        match self.bindings[left[-1]], self.bindings[right[-1]]:
            case ir.Narrowed(value=subject, holds=holds), ir.Narrowed(value=other, holds=fails) if (
                holds is not fails and subject == other
            ):
                return subject.bindings if isinstance(subject, ir.Variable) else ()
        return tuple(dict.fromkeys(left + right))[-_MAX_BINDINGS:]

    def visit_If(self, node: ast.If) -> bool:
        self.visit(node.test)
        branches = []
        for holds, statements in ((True, node.body), (False, node.orelse)):
            self.start_branch()
            self.narrow(node.test, holds=holds)
            branches.append(self._branch(statements))
        return self._join(branches)

    def visit_For(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        iterated = None if isinstance(node, ast.While) else self.visit(node.iter)
        self.start_branch()
        if isinstance(node, ast.While):
            self.visit(node.test)
            self.narrow(node.test, holds=True)
        elif iterated is not None:
            how = "async for" if isinstance(node, ast.AsyncFor) else "for"
            self.assign(node.target, ir.Unwrapped(iterated, how))
        body = self._branch(node.body)
        self._join([_Branch({}), body])
        self._block(node.orelse)
        return False

    visit_AsyncFor = visit_For
    visit_While = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> bool:
        how = "async with" if isinstance(node, ast.AsyncWith) else "with"
        for item in node.items:
            entered = ir.Unwrapped(self.visit(item.context_expr), how)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
        return self._block(node.body)

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try | ast.TryStar) -> bool:
        self.start_branch()
        body = self._branch(node.body)
        # An exception may be raised before or after any binding in the body.
        interrupted = self._joined([{}, body.changes])
        handlers = [self._handler(handler, interrupted) for handler in node.handlers]
        if body.is_reached and node.orelse:
            self.start_branch()
            self.environment.update(body.changes)
            body = self._branch(node.orelse)
        exits = self._join([body, *handlers])
        return self._block(node.finalbody) or exits

    visit_TryStar = visit_Try

    def _handler(self, node: ast.ExceptHandler, interrupted: expressions.Changes) -> _Branch:
        self.start_branch()
        self.environment.update(interrupted)
        if node.type is not None:
            caught = self.visit(node.type)
            if node.name:
                # *caught* is a class, or a tuple of classes.
                raised = ir.Alternatives((ir.Call(caught), ir.Call(ir.Unwrapped(caught))))
                self.bind(node.name, raised)
        return self._branch(node.body)

    def visit_Match(self, node: ast.Match) -> bool:
        subject = self.visit(node.subject)
        branches = []
        for case in node.cases:
            self.start_branch()
            self._pattern(case.pattern, subject, expressions.chain_key(node.subject))
            if case.guard is not None:
                self.visit(case.guard)
                self.narrow(case.guard, holds=True)
            branches.append(self._branch(case.body))
        return self._join([*branches, _Branch({})])

    def _pattern(self, pattern: ast.pattern, subject: ir.Expr, key: str | None = None) -> ir.Expr:
        """Read *pattern* and return *subject* as narrowed by a match.

        *key* is the variable or member access chain that is the subject, else None.
        """
        match pattern:
            case ast.MatchClass():
                return self._class_pattern(pattern, subject, key)
            case ast.MatchAs(name=name) | ast.MatchStar(name=name):
                inner = getattr(pattern, "pattern", None)
                matched = subject if inner is None else self._pattern(inner, subject, key)
                if name is not None:
                    self.bind(name, matched)
                return matched
            case ast.MatchOr(patterns=patterns):
                return ir.Alternatives(tuple(self._pattern(part, subject) for part in patterns))
            case ast.MatchValue(value=value):
                self.visit(value)
            case ast.MatchSequence(patterns=patterns) | ast.MatchMapping(patterns=patterns):
                for value in getattr(pattern, "keys", ()):
                    self.visit(value)
                for part in patterns:
                    self._pattern(part, ir.UNKNOWN)
                if rest := getattr(pattern, "rest", None):
                    self.bind(rest, ir.UNKNOWN)
        return subject

    def _class_pattern(self, pattern: ast.MatchClass, subject: ir.Expr, key: str | None) -> ir.Expr:
        cls = self.visit(pattern.cls)
        narrowed = ir.Narrowed(subject, cls)
        if key is not None:
            self.narrow_chain(key, narrowed)
        for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            self.add_occurrence(inner.lineno, "references", ir.Attribute(ir.Call(cls), name))
            self._pattern(inner, ir.Attribute(narrowed, name))
        for inner in pattern.patterns:
            self._pattern(inner, ir.UNKNOWN)
        return narrowed

    def visit_Assert(self, node: ast.Assert) -> None:
        self.generic_visit(node)
        self.narrow(node.test, holds=True)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.scopes[self.scope].returned.append(self.visit(node.value))

    # --- definitions ------------------------------------------------------------------------

    def _add_definition(
        self, kind: ScopeKind, node: expressions.FunctionNode | ast.ClassDef
    ) -> int:
        first = min(part.lineno for part in (node, *node.decorator_list))
        span = (first, node.end_lineno or node.lineno)
        return self.add_scope(kind, node.name, node.lineno, span)

    def visit_FunctionDef(self, node: expressions.FunctionNode) -> None:
        scope_index = self._add_definition("function", node)
        scope = self.scopes[scope_index]
        outer, self.enclosing = self.enclosing, scope_index
        scope.is_async = isinstance(node, ast.AsyncFunctionDef)
        scope.decorators = [self.visit(decorator) for decorator in node.decorator_list]
        self.start_branch()
        scope.type_params = self._bind_type_parameters(node)
        scope.params = self._parameters(node)
        if node.returns is not None:
            scope.returns = self.read_annotation(node.returns)
        self.end_branch()
        self.enclosing = outer
        self.assign_name(node.name, ir.FunctionBinding(scope_index))
        for name in filter(None, map(expressions.fixture_name, node.decorator_list)):
            self.bind(fixture_key(name), ir.FunctionBinding(scope_index))
        self._pending_bodies.append((node, scope_index))

    visit_AsyncFunctionDef = visit_FunctionDef

    def _parameters(self, node: expressions.FunctionNode) -> list[Parameter]:
        parameters = []
        is_fixture = any(map(expressions.is_fixture, node.decorator_list))
        given = set(expressions.parametrized(node.decorator_list))
        for kind, parameter, default in expressions.each_parameter(node.args):
            written = parameter.annotation
            annotation = self.read_annotation(written) if written is not None else None
            value = self.visit(default) if default is not None else None
            if parameter.arg in given:
                value = ir.UNKNOWN
            elif default is None and (is_fixture or node.name.startswith("test")):
                use = ir.FixtureUse(self.enclosing, parameter.arg)
                self.add_occurrence(parameter.lineno, "references", use)
            parameters.append(Parameter(parameter.arg, kind, annotation, value))
        return parameters

    def _function_body(self, node: expressions.FunctionNode, scope_index: int) -> None:
        outer = (self.scope, self.enclosing, self.environment)
        self.scope = self.enclosing = scope_index
        self.environment = expressions.Environment()
        for index, parameter in enumerate(self.scopes[scope_index].params):
            self.bind(parameter.name, ir.ParameterBinding(scope_index, index))
            if parameter.annotation is not None and parameter.kind in "pk":
                self._declared_types[scope_index, parameter.name] = parameter.annotation
        self._block(node.body)
        self.scope, self.enclosing, self.environment = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        scope_index = self._add_definition("class", node)
        scope = self.scopes[scope_index]
        outer = (self.scope, self.enclosing)
        self.enclosing = scope_index
        scope.decorators = [self.visit(decorator) for decorator in node.decorator_list]
        self.start_branch()
        scope.type_params = self._bind_type_parameters(node)
        scope.bases = [self._base(base) for base in node.bases]
        for keyword in node.keywords:
            self.visit(keyword.value)
        self.scope = scope_index
        self._block(node.body)
        self.scope, self.enclosing = outer
        self.end_branch()
        self.assign_name(node.name, ir.ClassBinding(scope_index))

    def _bind_type_parameters(self, node: expressions.FunctionNode | ast.ClassDef) -> list[int]:
        """Bind the type parameters of *node* until the branch ends; return their indices."""
        indices = []
        for parameter in getattr(node, "type_params", []):  # from Python 3.12
            name, bound = parameter.name, getattr(parameter, "bound", None)
            bound_type = self.read_annotation(bound) if bound is not None else None
            index = self.add_binding(ir.TypeParameter(len(self.bindings), bound_type))
            self.environment[name] = (index,)
            self.scopes[-1].names.setdefault(name, []).append(index)
            indices.append(index)
        return indices

    def _base(self, node: ast.expr) -> ir.Expr:
        first = len(self.occurrences)
        base = self.read_annotation(node)
        self.set_occurrence_kind("inherits", base, first)
        return base
