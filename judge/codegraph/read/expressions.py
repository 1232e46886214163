"""Expressions of a syntax tree -> facts; the lower half of the Python reader.

Each expression becomes a small tuple (see `facts`) from which the linker infers a type, and each
name or attribute met on the way is noted as a use of whatever it will turn out to name.
"""

import ast
from typing import TYPE_CHECKING, Any

from judge.codegraph.facts import UNKNOWN, Expr, LexicalScope, Use
from judge.codegraph.read.syntax_trees import all_parameters, chain_key, instance_test

if TYPE_CHECKING:
    from collections.abc import Callable

Environment = dict[str, tuple[int, ...]]

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.BitOr: "__or__",
    ast.BitAnd: "__and__",
    ast.BitXor: "__xor__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.MatMult: "__matmul__",
}
#: CallEvaluator whose first arguments may be types written as strings.
_TYPE_CALLS = frozenset({"cast", "TypeVar", "NewType", "assert_type"})
#: Subscripts of these are types wherever they stand.
_TYPE_FORMS = frozenset({"Union", "Optional", "List", "Dict", "Type", "Callable", "Iterable"})
#: CallEvaluator that give each element of their second argument, or of their first, to a function.
_APPLYING = frozenset({"map", "filter"})
_COMPARING = frozenset({"sorted", "min", "max", "groupby"})
#: Elements of a display that are looked at; the rest rarely adds a type.
_ELEMENTS = 4


class ExpressionReader:
    """Turn expressions into facts, within the scope and the variables of this moment."""

    def __init__(self) -> None:
        self.scopes: list[LexicalScope] = []
        self.values: list[Expr] = []
        self.uses: list[Use] = []
        self.scope = 0
        self.source = 0
        self.environment: Environment = {}
        self._annotating = False
        self._readers: dict[type[ast.AST], Callable[[Any], Expr]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.Subscript: self._subscript,
            ast.BinOp: self._operation,
            ast.BoolOp: self._boolean,
            ast.IfExp: self._choice,
            ast.Await: self._await,
            ast.Tuple: self._tuple,
            ast.List: self._list,
            ast.Set: self._set,
            ast.Dict: self._dict,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.NamedExpr: self._walrus,
            ast.Lambda: self._lambda,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield_from,
            ast.Starred: self._starred,
            ast.JoinedStr: self._joined,
            ast.Compare: self._compare,
        }

    def expression(self, node: ast.expr) -> Expr:
        """The fact for *node*; its uses are noted."""
        reader = self._readers.get(type(node))
        return reader(node) if reader else self._other(node)

    def annotation(self, node: ast.expr) -> Expr:
        """The fact for *node*, in which strings are read as types."""
        outer, self._annotating = self._annotating, True
        try:
            return self.expression(node)
        finally:
            self._annotating = outer

    def visible_scope(self) -> int:
        """Where to look up what no statement so far has bound: a class body looks outside."""
        scope = self.scopes[self.scope]
        return scope.parent if scope.kind == "class" else self.scope

    def bind(self, name: str, value: Expr) -> int:
        """Let *name* stand for *value* from here on in this scope."""
        place = self.value(value)
        self.environment[name] = (place,)
        self.scopes[self.scope].names.setdefault(name, []).append(place)
        return place

    def value(self, value: Expr) -> int:
        """Keep *value* and return its id."""
        self.values.append(value)
        return len(self.values) - 1

    def use(self, line: int, kind: str, fact: Expr) -> None:
        """Note a use of *fact*; those of mere variables are left out later."""
        self.uses.append((line, self.source, kind, fact))

    def assign(self, target: ast.expr, value: Expr) -> None:
        """Bind *target*, however it is built, to *value*."""
        if isinstance(target, ast.Name):
            place = self.assign_name(target.id, value)
            self.use(target.lineno, "references", ("v", place))
        elif isinstance(target, ast.Tuple | ast.List):
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    self.assign(element.value, ("l", "list", ("e", value)))
                else:
                    self.assign(element, ("o", index, value))
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, value)
        else:
            self.expression(target)

    def assign_name(self, name: str, value: Expr) -> int:
        """Bind the variable *name*; the reader of bindings knows about declared types."""
        return self.bind(name, value)

    def assign_attribute(self, target: ast.Attribute, value: Expr) -> None:
        """Bind an attribute; the reader of bindings knows which are an object's own."""

    def narrow(self, test: ast.expr, *, holds: bool) -> None:
        """Apply to the variables what *test* says about their types."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, holds=not holds)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) is holds:
                for operand in test.values:
                    self.narrow(operand, holds=holds)
        elif isinstance(test, ast.NamedExpr):
            self.narrow(test.value, holds=holds)
        else:
            self._narrow_simple(test, holds=holds)

    def _narrow_simple(self, test: ast.expr, *, holds: bool) -> None:
        subject, classes = instance_test(test)
        key = chain_key(subject) if subject is not None else None
        if subject is None or classes is None or key is None:
            return
        uses = len(self.uses)
        fact = ("i" if holds else "!", self.expression(subject), self.expression(classes))
        del self.uses[uses:]
        self.environment[key] = (self.value(fact),)

    def _name(self, node: ast.Name, kind: str = "references") -> Expr:
        ids = self.environment.get(node.id)
        fact: Expr = ("v", *ids) if ids is not None else ("n", self.visible_scope(), node.id)
        self.use(node.lineno, kind, fact)
        return fact

    def _attribute(self, node: ast.Attribute, kind: str = "references") -> Expr:
        receiver = self.expression(node.value)
        fact: Expr = ("a", receiver, node.attr)
        self.use(node.end_lineno or node.lineno, kind, fact)
        key = chain_key(node)
        if key is not None and (ids := self.environment.get(key)) is not None:
            return ("v", *ids)
        return fact

    def _call(self, node: ast.Call) -> Expr:
        function = node.func
        if isinstance(function, ast.Name):
            called = self._name(function, "calls")
        elif isinstance(function, ast.Attribute):
            called = self._attribute(function, "calls")
        else:
            called = self.expression(function)
        return ("c", called, *self._arguments(node))

    def _arguments(self, node: ast.Call) -> list[Expr]:
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        if name in _APPLYING and len(node.args) == 2 and isinstance(node.args[0], ast.Lambda):
            elements = self.expression(node.args[1])
            return [self._lambda(node.args[0], ("e", elements)), elements]
        read = self.annotation if name in _TYPE_CALLS else self.expression
        arguments = [read(argument) for argument in node.args]
        for keyword in node.keywords:
            if keyword.arg == "bound":
                arguments.append(("bound", self.annotation(keyword.value)))
            elif name in _COMPARING and arguments and isinstance(keyword.value, ast.Lambda):
                self._lambda(keyword.value, _compared(node.args, arguments))
            else:
                self.expression(keyword.value)
        return arguments

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if isinstance(value, str):
            return self._string(node, value)
        if isinstance(value, int) and abs(value) < 1 << 31:
            return ("k", type(value).__name__, int(value))
        return ("k", type(value).__name__)

    def _string(self, node: ast.Constant, text: str) -> Expr:
        if not self._annotating:
            return ("k", "str")
        try:
            inner = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            return ("k", "str")
        for part in ast.walk(inner):
            if isinstance(part, ast.expr):
                part.lineno = part.end_lineno = node.lineno
        return self.expression(inner)

    def _subscript(self, node: ast.Subscript) -> Expr:
        receiver = self.expression(node.value)
        name = getattr(node.value, "id", None) or getattr(node.value, "attr", None)
        if name == "Literal":
            outer, self._annotating = self._annotating, False
            self._other(node.slice)
            self._annotating = outer
            return ("k", "literal")
        if name == "Annotated" and isinstance(node.slice, ast.Tuple):
            return self._annotated(node.slice.elts)
        if isinstance(node.slice, ast.Slice):
            self._other(node.slice)
            return receiver
        read = self.annotation if name in _TYPE_FORMS else self.expression
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ("s", receiver, *[read(part) for part in parts])

    def _annotated(self, elements: list[ast.expr]) -> Expr:
        fact = self.expression(elements[0])
        outer, self._annotating = self._annotating, False
        for element in elements[1:]:
            self.expression(element)
        self._annotating = outer
        return fact

    def _operation(self, node: ast.BinOp) -> Expr:
        left, right = self.expression(node.left), self.expression(node.right)
        return ("b", _OPERATORS.get(type(node.op), ""), left, right)

    def _boolean(self, node: ast.BoolOp) -> Expr:
        outer = self.environment
        self.environment = dict(outer)
        facts = []
        for operand in node.values:
            facts.append(self.expression(operand))
            self.narrow(operand, holds=isinstance(node.op, ast.And))
        self._keep_bindings(outer)
        return ("u", *facts) if isinstance(node.op, ast.Or) else facts[-1]

    def _choice(self, node: ast.IfExp) -> Expr:
        self.expression(node.test)
        outer = self.environment
        facts = []
        for holds, branch in ((True, node.body), (False, node.orelse)):
            self.environment = dict(outer)
            self.narrow(node.test, holds=holds)
            facts.append(self.expression(branch))
        self.environment = outer
        return ("u", *facts)

    def _keep_bindings(self, outer: Environment) -> None:
        """Return to *outer*, with the names that a walrus bound meanwhile."""
        for name, ids in self.environment.items():
            if name not in outer and self.values[ids[0]][0] not in "i!":
                outer[name] = ids
        self.environment = outer

    def _await(self, node: ast.Await) -> Expr:
        return ("w", self.expression(node.value))

    def _tuple(self, node: ast.Tuple) -> Expr:
        return ("t", *[self.expression(element) for element in node.elts])

    def _list(self, node: ast.List) -> Expr:
        return ("l", "list", *[self.expression(element) for element in node.elts][:_ELEMENTS])

    def _set(self, node: ast.Set) -> Expr:
        return ("l", "set", *[self.expression(element) for element in node.elts][:_ELEMENTS])

    def _dict(self, node: ast.Dict) -> Expr:
        keys = [self.expression(key) for key in node.keys if key is not None]
        values = [self.expression(value) for value in node.values]
        return ("d", ("u", *keys[:_ELEMENTS]), ("u", *values[:_ELEMENTS]))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Expr:
        outer = self.environment
        self.environment = dict(outer)
        for generator in node.generators:
            tag = "E" if generator.is_async else "e"
            iterated = self.expression(generator.iter)
            self._assign_inside(generator.target, (tag, iterated))
            for test in generator.ifs:
                self.expression(test)
                self.narrow(test, holds=True)
        fact = self._made_by(node)
        self.environment = outer
        return fact

    def _made_by(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Expr:
        if isinstance(node, ast.DictComp):
            return ("d", self.expression(node.key), self.expression(node.value))
        kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "generator")
        return ("l", kind, self.expression(node.elt))

    def _assign_inside(self, target: ast.expr, value: Expr) -> None:
        """Bind names that live only inside a comprehension: no name of the scope."""
        if isinstance(target, ast.Name):
            self.environment[target.id] = (self.value(value),)
        elif isinstance(target, ast.Tuple | ast.List):
            for index, element in enumerate(target.elts):
                self._assign_inside(element, ("o", index, value))
        else:
            self.expression(target)

    def _walrus(self, node: ast.NamedExpr) -> Expr:
        fact = self.expression(node.value)
        self.assign_name(node.target.id, fact)
        return fact

    def _lambda(self, node: ast.Lambda, given: Expr = UNKNOWN) -> Expr:
        """The fact for a lambda whose parameters stand for *given*."""
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.expression(default)
        outer = self.environment
        self.environment = dict(outer)
        place = self.value(given)
        for parameter in all_parameters(node.args):
            self.environment[parameter.arg] = (place,)
        result = self.expression(node.body)
        self.environment = outer
        return ("L", result)

    def _yield(self, node: ast.Yield) -> Expr:
        fact = self.expression(node.value) if node.value else UNKNOWN
        self.scopes[self.scope].yielded.append(fact)
        return ("Y", self.scope)

    def _yield_from(self, node: ast.YieldFrom) -> Expr:
        self.scopes[self.scope].yielded.append(("e", self.expression(node.value)))
        return UNKNOWN

    def _starred(self, node: ast.Starred) -> Expr:
        return ("e", self.expression(node.value))

    def _joined(self, node: ast.JoinedStr) -> Expr:
        outer, self._annotating = self._annotating, False
        self._other(node)
        self._annotating = outer
        return ("k", "str")

    def _compare(self, node: ast.Compare) -> Expr:
        self._other(node)
        return ("k", "bool")

    def _other(self, node: ast.AST) -> Expr:
        """Note the uses in *node*, of which no type is told."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            elif not isinstance(child, ast.expr_context):
                self._other(child)
        return UNKNOWN


def _compared(nodes: list[ast.expr], arguments: list[Expr]) -> Expr:
    """What `min(*arguments, key=…)` gives to its key: elements, or else the arguments."""
    if len(arguments) > 1 or isinstance(nodes[0], ast.Starred):
        return ("u", *arguments)
    return ("e", arguments[0])
