"""Assignments, declarations and imports -> bindings; the middle layer of the Python reader.

Reads all that gives a variable or an attribute its value or type: assignments, declared types,
`global` and `nonlocal`, imports, and the names in `__all__`.
"""

import ast
from typing import Any

from codegraph import ir
from codegraph.facts import FileFacts
from codegraph.read.expression_reader import ExpressionReader, chain_key


class BindingReader(ExpressionReader):
    """Bind names, each in the scope that it belongs to."""

    def __init__(self, facts: FileFacts) -> None:
        """Add to *facts*."""
        super().__init__(facts)
        #: Scope and name -> the scope in which `global` or `nonlocal` binds that name.
        self._outer_scopes: dict[tuple[int, str], int] = {}
        self._declared_types: dict[tuple[int, str], ir.Expr] = {}
        self._exports: set[str] = set()
        self._exports_known = True

    def assign(self, target: ast.expr, value: ir.Expr) -> None:
        """Bind *target*, which may be nested, to *value*."""
        if isinstance(target, ast.Name):
            index = self.assign_name(target.id, value)
            self.add_occurrence(target.lineno, "references", ir.Variable((index,)))
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    self.assign(element.value, ir.Display("list", (ir.Unwrapped(value),)))
                else:
                    self.assign(element, ir.UnpackedElement(index, value))
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, value)
        else:
            self.visit(target)

    def assign_name(
        self, name: str, value: ir.Expr | ir.FunctionBinding | ir.ClassBinding | ir.Import
    ) -> int:
        """Bind *name*, with its declared type, in this scope or the `global` or `nonlocal` one."""
        declared = self._declared_types.get((self.scope, name))
        if declared is not None and not isinstance(value, ir.DEFINING_BINDINGS):
            value = ir.AnnotatedVariable(declared, value)
        self.forget_attributes(name)
        outer = self._outer_scopes.get((self.scope, name))
        if outer is None:
            return self.bind(name, value)
        index = self.add_binding(value)
        self.add_name(outer, name, index)
        return index

    def assign_attribute(self, target: ast.Attribute, value: ir.Expr) -> None:
        """Bind an attribute, and narrow its member access chain (`a.b`) to *value* from here on."""
        receiver = self.visit(target.value)
        attribute = ir.Attribute(receiver, target.attr)
        self.add_occurrence(target.end_lineno or target.lineno, "references", attribute)
        self._bind_self_attribute(target, value)
        key = chain_key(target)
        if key is not None:
            self.narrow_chain(key, value)

    def _bind_self_attribute(self, target: ast.Attribute, value: ir.Expr) -> None:
        """Add *target* to the attributes of its class when it belongs to a method's `self`."""
        function = self.scopes[self.scope]
        if function.kind != "function" or not isinstance(target.value, ast.Name):
            return
        if any(isinstance(d, ir.Name) and d.name == "staticmethod" for d in function.decorators):
            return
        owner = self.scopes[function.parent]
        if owner.kind == "class" and function.params and function.params[0].name == target.value.id:
            owner.attributes.setdefault(target.attr, []).append(self.add_binding(value))
            self.add_variable(function.parent, target.attr)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == "__all__" and self.scope == 0:
                self._add_exports(node.value)
            if isinstance(target, ast.Name) and target.id == "__slots__":
                self._add_slots(node.value)
            with self.assigning(node.lineno, node.end_lineno or node.lineno):
                self.assign(target, value)

    def _add_exports(self, node: ast.expr) -> None:
        """Add the names in `__all__` to the exports; each is an occurrence of what it exports.

        Where some of them are computed, `import *` is assumed to import every public name.
        """
        pending = [node]
        for part in pending:
            match part:
                case ast.List(elts=parts) | ast.Tuple(elts=parts):
                    pending += parts
                case ast.BinOp(left=left, right=right):
                    pending += [left, right]
                case ast.Constant(value=str(name)):
                    self._exports.add(name)
                    self.add_occurrence(part.lineno, "exports", ir.Name(0, name))
                case _:
                    self._exports_known = False
        self.facts.exports = self._exports if self._exports_known else None

    def _add_slots(self, node: ast.expr) -> None:
        """Add each name in `__slots__` as an occurrence of that attribute of the class."""
        owner = self.scopes[self.scope]
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                attribute = ir.Attribute(ir.Name(owner.parent, owner.name), part.value)
                self.add_occurrence(part.lineno, "references", attribute)

    def visit_Expr(self, node: ast.Expr) -> None:
        self.visit(node.value)
        match node.value:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("__all__"), attr="append" | "extend"),
                args=[added],
            ) if self.scope == 0:
                self._add_exports(added)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and node.target.id == "__all__" and self.scope == 0:
            self._add_exports(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        declared = self.read_annotation(node.annotation)
        form = node.annotation
        is_alias = "TypeAlias" in (getattr(form, "id", None), getattr(form, "attr", None))
        read = self.read_annotation if is_alias else self.visit
        value = read(node.value) if node.value is not None else None
        if isinstance(node.target, ast.Name):
            if node.target.id == "__all__" and node.value is not None:
                self._add_exports(node.value)
            self._declared_types.setdefault((self.scope, node.target.id), declared)
            with self.assigning(node.lineno, node.end_lineno or node.lineno):
                index = self.bind(node.target.id, ir.AnnotatedVariable(declared, value))
            self.add_occurrence(node.target.lineno, "references", ir.Variable((index,)))
        elif isinstance(node.target, ast.Attribute):
            with self.assigning(node.lineno, node.end_lineno or node.lineno):
                self.assign_attribute(node.target, ir.AnnotatedVariable(declared, value))

    def visit_TypeAlias(self, node: Any) -> None:
        value = self.read_annotation(node.value)
        with self.assigning(node.lineno, node.end_lineno or node.lineno):
            self.bind(node.name.id, value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ir.Expr:
        value: ir.Expr = self.visit(node.value)
        self.assign_name(node.target.id, value)
        return value

    def visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            self._outer_scopes[self.scope, name] = 0
            self.add_occurrence(node.lineno, "references", ir.Name(0, name))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            outer = self.scopes[self.scope].parent
            while outer > 0 and (
                self.scopes[outer].kind != "function" or name not in self.scopes[outer].names
            ):
                outer = self.scopes[outer].parent
            self._outer_scopes[self.scope, name] = outer

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add_occurrence(alias.lineno, "imports", ir.ImportModule(alias.name))
            bound = alias.name if alias.asname else alias.name.split(".")[0]
            self.assign_name(alias.asname or bound, ir.ImportModule(bound))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            value = ir.ImportFrom(node.level, module, alias.name)
            self.add_occurrence(alias.lineno, "imports", value)
            if alias.name == "*":
                self.facts.star_imports.append((node.level, module))
            else:
                self.assign_name(alias.asname or alias.name, value)
