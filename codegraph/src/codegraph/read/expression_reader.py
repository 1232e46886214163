"""Expressions of a syntax tree -> `ir` expressions; the lowest layer of the Python reader.

From an `ir` expression the linker infers a type. Each name or attribute on the way is recorded as
an occurrence; which symbol it refers to is resolved by the linker.
"""

import ast
import re
from collections import ChainMap, defaultdict
from collections.abc import Iterator, MutableMapping, Sequence

from codegraph import ir
from codegraph.facts import FileFacts, ParameterKind
from codegraph.read.fact_writer import FactWriter

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

#: Functions whose arguments may be types written as strings.
_TYPE_CALLS = frozenset({"cast", "TypeVar", "assert_type"})
#: The subscripts of these names are types, in values too.
_TYPE_FORMS = frozenset({"Union", "Optional", "List", "Dict", "Type", "Callable", "Iterable"})
_STRING = ir.Constant("str")
#: Elements of a display that are evaluated; further ones rarely add a type.
_MAX_ELEMENTS = 4


#: Variables with their new bindings; an empty tuple when the branch discarded them.
Changes = MutableMapping[str, tuple[int, ...]]


class Environment(ChainMap[str, tuple[int, ...]]):
    """The bindings that may reach the current statement, of variables and of narrowed `a.b`.

    Each open branch has a table of its changes in front of those around it.
    """

    def __missing__(self, name: str) -> tuple[int, ...]:
        return ()


class ExpressionReader(FactWriter, ast.NodeVisitor):
    """Turn expressions into `ir` expressions, in the current scope and environment.

    Visiting an expression returns its `ir` expression and records the names in it.
    """

    def __init__(self, facts: FileFacts) -> None:
        """Add to *facts*."""
        super().__init__(facts)
        self.environment = Environment()
        #: The narrowed `a.b` of each `a`.
        self._chains: defaultdict[str, set[str]] = defaultdict(set)
        self._in_annotation = False

    def read_annotation(self, node: ast.expr, *, is_type: bool = True) -> ir.Expr:
        """Read an annotation; with *is_type*, strings in it are parsed as types."""
        outer, self._in_annotation = self._in_annotation, is_type
        expr: ir.Expr = self.visit(node)
        self._in_annotation = outer
        return expr

    def start_branch(self) -> None:
        """Record changes of the environment until `end_branch`."""
        self.environment = self.environment.new_child()

    def end_branch(self) -> Changes:
        """Undo the changes since the last `start_branch`, and return them."""
        changes = self.environment.maps[0]
        self.environment = self.environment.parents
        return changes

    def narrow_chain(self, key: str, value: ir.Expr) -> None:
        """From here on, *value* is what a variable or `a.b` (*key*) has."""
        self._chains[key.partition(".")[0]].add(key)
        self.environment[key] = (self.add_binding(value),)

    def forget_attributes(self, name: str) -> None:
        """Discard the narrowed types of the attributes of *name*, which was bound again."""
        for chain in self._chains.get(name, ()):
            if "." in chain and self.environment[chain]:
                self.environment[chain] = ()

    def bind(self, name: str, value: ir.Binding) -> int:
        """Bind *name* to *value* in the current scope, from here on."""
        index = super().bind(name, value)
        self.environment[name] = (index,)
        return index

    def narrow(self, test: ast.expr, *, holds: bool) -> None:
        """Narrow variables to the types that they have where *test* holds, or where it fails."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.narrow(operand, holds=not holds)
            case ast.BoolOp(op=op, values=operands) if isinstance(op, ast.And) is holds:
                for operand in operands:
                    self.narrow(operand, holds=holds)
            case (
                ast.Call(func=ast.Name("isinstance"), args=[subject, classes])
                | ast.Compare(
                    left=ast.Call(func=ast.Name("type"), args=[subject]),
                    ops=[ast.Is() | ast.Eq()],
                    comparators=[classes],
                )
            ) if key := chain_key(subject):
                # Both were visited with the test; their occurrences must not count twice.
                first = len(self.occurrences)
                narrowed = ir.Narrowed(self.visit(subject), self.visit(classes), holds)
                del self.occurrences[first:]
                self.narrow_chain(key, narrowed)

    def visit_Name(self, node: ast.Name, kind: str = "references") -> ir.Expr:
        bindings = self.environment[node.id]
        scope = self.scopes[self.scope]
        # What a class body has not bound yet is looked up outside.
        outer = scope.parent if scope.kind == "class" else self.scope
        expr = ir.Variable(bindings) if bindings else ir.Name(outer, node.id)
        self.add_occurrence(node.lineno, kind, expr)
        return expr

    def visit_Attribute(self, node: ast.Attribute, kind: str = "references") -> ir.Expr:
        receiver = self.visit(node.value)
        attribute = ir.Attribute(receiver, node.attr)
        self.add_occurrence(node.end_lineno or node.lineno, kind, attribute)
        key = chain_key(node)
        if key is not None and (bindings := self.environment[key]):
            return ir.Variable(bindings)
        return attribute

    def visit_Call(self, node: ast.Call) -> ir.Expr:
        function = node.func
        if isinstance(function, ast.Name):
            callee = self.visit_Name(function, "calls")
        elif isinstance(function, ast.Attribute):
            callee = self.visit_Attribute(function, "calls")
        else:
            callee = self.visit(function)
        name: str = getattr(function, "id", None) or getattr(function, "attr", None) or ""
        if name == "cls" or name.lstrip("_")[:1].isupper():  # as PEP 8 names classes
            for keyword in node.keywords:
                if keyword.arg is not None:
                    use = ir.FieldUse(callee, keyword.arg)
                    self.add_occurrence(keyword.lineno, "references", use)
        if name in ("usefixtures", "getfixturevalue"):
            for part in node.args:
                fixture = ir.FixtureUse(self.scope, str(getattr(part, "value", "")))
                self.add_occurrence(part.lineno, "references", fixture)
        return ir.Call(callee, tuple(self._arguments(node, name)))

    def _arguments(self, node: ast.Call, name: str) -> list[ir.Expr]:
        read = self.read_annotation if name in _TYPE_CALLS else self.visit
        arguments = [read(argument) for argument in node.args]
        for keyword in node.keywords:
            if keyword.arg == "bound" and name == "TypeVar":
                arguments.append(self.read_annotation(keyword.value))
            else:
                self.visit(keyword.value)
        return arguments

    def visit_Constant(self, node: ast.Constant) -> ir.Expr:
        value = node.value
        if isinstance(value, str):
            inner = parse_type(value, node.lineno) if self._in_annotation else None
            return self.visit(inner) if inner is not None else _STRING
        small = int(value) if isinstance(value, int) and abs(value) < 1 << 31 else None
        return ir.Constant(type(value).__name__, small)

    def visit_Subscript(self, node: ast.Subscript) -> ir.Expr:
        receiver: ir.Expr = self.visit(node.value)
        name = getattr(node.value, "id", None) or getattr(node.value, "attr", None)
        if name == "Literal":
            self.read_annotation(node.slice, is_type=False)
            return ir.Constant("literal")
        if name == "Annotated" and isinstance(node.slice, ast.Tuple):
            annotated, *_ = (
                self.read_annotation(part, is_type=self._in_annotation and not index)
                for index, part in enumerate(node.slice.elts)
            )
            return annotated
        if isinstance(node.slice, ast.Slice):
            self.generic_visit(node.slice)
            return receiver
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            use = ir.FieldUse(receiver, node.slice.value, is_key=True)
            self.add_occurrence(node.slice.lineno, "references", use)
        read = self.read_annotation if name in _TYPE_FORMS else self.visit
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ir.Subscript(receiver, tuple(map(read, parts)))

    def visit_BinOp(self, node: ast.BinOp) -> ir.Expr:
        left, right = self.visit(node.left), self.visit(node.right)
        is_union = isinstance(node.op, ast.BitOr)
        return ir.Alternatives((left, right)) if is_union else ir.UNKNOWN

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ir.Expr:
        match node.op, self.visit(node.operand):
            case ast.USub(), ir.Constant(type_name="int", value=int(value)):
                return ir.Constant("int", -value)
        return ir.UNKNOWN

    def visit_BoolOp(self, node: ast.BoolOp) -> ir.Expr:
        self.start_branch()
        operands = []
        for operand in node.values:
            operands.append(self.visit(operand))
            self.narrow(operand, holds=isinstance(node.op, ast.And))
        self.end_branch()
        return ir.Alternatives(tuple(operands)) if isinstance(node.op, ast.Or) else operands[-1]

    def visit_IfExp(self, node: ast.IfExp) -> ir.Expr:
        self.visit(node.test)
        branches = []
        for holds, branch in ((True, node.body), (False, node.orelse)):
            self.start_branch()
            self.narrow(node.test, holds=holds)
            branches.append(self.visit(branch))
            self.end_branch()
        return ir.Alternatives(tuple(branches))

    def visit_Await(self, node: ast.Await) -> ir.Expr:
        return ir.Unwrapped(self.visit(node.value), "await")

    def visit_Tuple(self, node: ast.Tuple) -> ir.Expr:
        return ir.Display("tuple", tuple(map(self.visit, node.elts)))

    def visit_List(self, node: ast.List | ast.Set) -> ir.Expr:
        elements = [self.visit(element) for element in node.elts]
        kind = "list" if isinstance(node, ast.List) else "set"
        return ir.Display(kind, (_any_of(elements),))

    visit_Set = visit_List

    def visit_Dict(self, node: ast.Dict) -> ir.Expr:
        keys = [self.visit(key) for key in node.keys if key is not None]
        values = [self.visit(value) for value in node.values]
        return ir.Display("dict", (_any_of(keys), _any_of(values)))

    def visit_ListComp(self, node: _Comprehension) -> ir.Expr:
        self.start_branch()
        for generator in node.generators:
            iterable = self.visit(generator.iter)
            element = ir.Unwrapped(iterable, "async for" if generator.is_async else "for")
            self._bind_comprehension_target(generator.target, element)
            for test in generator.ifs:
                self.visit(test)
                self.narrow(test, holds=True)
        if isinstance(node, ast.DictComp):
            expr = ir.Display("dict", (self.visit(node.key), self.visit(node.value)))
        else:
            kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "generator")
            expr = ir.Display(kind, (self.visit(node.elt),))
        self.end_branch()
        return expr

    visit_SetComp = visit_ListComp
    visit_GeneratorExp = visit_ListComp
    visit_DictComp = visit_ListComp

    def _bind_comprehension_target(self, target: ast.expr, value: ir.Expr) -> None:
        """Bind names in the environment alone: they are visible only inside the comprehension."""
        if isinstance(target, ast.Name):
            self.environment[target.id] = (self.add_binding(value),)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, element in enumerate(target.elts):
                self._bind_comprehension_target(element, ir.UnpackedElement(index, value))
        else:
            self.visit(target)

    def visit_Lambda(self, node: ast.Lambda) -> ir.Expr:
        parameters = list(each_parameter(node.args))
        for _, _, default in parameters:
            if default is not None:
                self.visit(default)
        self.start_branch()
        unknown = self.add_binding(ir.UNKNOWN)
        for _, parameter, _ in parameters:
            self.environment[parameter.arg] = (unknown,)
        self.visit(node.body)
        self.end_branch()
        return ir.UNKNOWN

    def visit_Yield(self, node: ast.Yield) -> ir.Expr:
        value = self.visit(node.value) if node.value else ir.UNKNOWN
        self.scopes[self.scope].yielded.append(value)
        return ir.UNKNOWN

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ir.Expr:
        self.scopes[self.scope].yielded.append(ir.Unwrapped(self.visit(node.value)))
        return ir.UNKNOWN

    def visit_Starred(self, node: ast.Starred) -> ir.Expr:
        return ir.Unwrapped(self.visit(node.value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ir.Expr:
        for value in node.values:
            self.read_annotation(value, is_type=False)
        return _STRING

    def generic_visit(self, node: ast.AST) -> ir.Expr:
        """Record the names in *node*; its own type is unknown."""
        for child in ast.iter_child_nodes(node):
            self.visit(child)
        return ir.UNKNOWN


def _any_of(elements: Sequence[ir.Expr]) -> ir.Expr:
    """Any of the first *elements* of a display."""
    return elements[0] if len(elements) == 1 else ir.Alternatives(tuple(elements[:_MAX_ELEMENTS]))


def each_parameter(
    arguments: ast.arguments,
) -> Iterator[tuple[ParameterKind, ast.arg, ast.expr | None]]:
    """Kind, name and default of every parameter, in the order of the signature."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(positional) - len(arguments.defaults))
    for parameter, default in zip(positional, [*without, *arguments.defaults], strict=True):
        yield "p", parameter, default
    if arguments.vararg:
        yield "*", arguments.vararg, None
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield "k", parameter, default
    if arguments.kwarg:
        yield "**", arguments.kwarg, None


def chain_key(node: ast.expr) -> str | None:
    """The environment's key for a variable or member access chain (`a.b.c`); None for others."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (inner := chain_key(node.value)) is not None:
        return f"{inner}.{node.attr}"
    if isinstance(node, ast.NamedExpr):
        return node.target.id
    return None


def parse_type(text: str, line: int) -> ast.expr | None:
    """The type written in the string *text* on *line*; None when it is no expression."""
    try:
        inner = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    for part in ast.walk(inner):
        if isinstance(part, ast.expr):
            part.lineno = part.end_lineno = line
    return inner


def is_fixture(decorator: ast.expr) -> bool:
    """Whether *decorator* looks like `@pytest.fixture`, called or not."""
    callee = decorator.func if isinstance(decorator, ast.Call) else decorator
    return "fixture" in (getattr(callee, "attr", None), getattr(callee, "id", None))


def parametrized(decorators: list[ast.expr]) -> Iterator[str]:
    """The parameters that get values from `parametrize` itself, whatever fixtures are called so."""
    for part in decorators:
        match part:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, *_], keywords=words):
                parts = () if "indirect" in (word.arg for word in words) else ast.walk(names)
                for name in parts:
                    yield from re.findall(r"\w+", str(getattr(name, "value", "")))


def fixture_name(decorator: ast.expr) -> str:
    """`x` of a decorator like `@pytest.fixture(name="x")`; else empty."""
    if isinstance(decorator, ast.Call) and is_fixture(decorator):
        for keyword in decorator.keywords:
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value or "")
    return ""
