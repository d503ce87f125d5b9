"""Replace `+`, `-`, `*` and `/` of an expression with functions of kernels/arithmetic.py where the dtypes match.

JAX's operators compute a common dtype before they call `lax`, and take several times as long to trace. `promote` has
already converted the arguments to one dtype, so this step is unnecessary between them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

# The functions of kernels/arithmetic.py that generated modules may import.
FUNCTIONS = frozenset({"add", "sub", "mul", "div", "scaled"})
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


@dataclass(frozen=True)
class Arithmetic:
    """The operators of one expression.

    `promoted` are the names that have the compute dtype. `optional` are the numbers among them whose default is 1: such
    a factor is omitted from the trace if the call leaves it at 1. `divides` is true if no argument is an integer, whose
    quotient `lax` would truncate.
    """

    expression: str
    promoted: frozenset[str]
    optional: frozenset[str] = frozenset()
    divides: bool = False

    def __str__(self) -> str:
        """The expression, with operators between promoted arguments replaced by calls."""
        data = self.expression.encode()
        for node in reversed(list(self._outermost(self._tree))):
            assert node.end_col_offset is not None
            start, end = node.col_offset, node.end_col_offset
            # Drop parentheses around an operator, but not those of a call.
            while data[start - 1 : start] == b"(" and data[end : end + 1] == b")" and not _ends_name(data[: start - 1]):
                start, end = start - 1, end + 1
            data = data[:start] + self._call(node).encode() + data[end:]
        return data.decode()

    @property
    def factors(self) -> frozenset[str]:
        """The optional numbers that occur only as factors: they are converted with the product."""
        names = [n.id for n in ast.walk(self._tree) if isinstance(n, ast.Name)]
        single = {name for name in self.optional if names.count(name) == 1}
        products = [n for n in ast.walk(self._tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
        pairs = [pair for n in products for pair in ((n.left, n.right), (n.right, n.left))]
        return frozenset(
            a.id
            for a, b in pairs
            if isinstance(a, ast.Name) and a.id in single and self._matches(b, self.promoted - self.optional)
        )

    @property
    def _tree(self) -> ast.expr:
        return ast.parse(self.expression, mode="eval").body

    def _outermost(self, node: ast.AST) -> Iterator[ast.BinOp]:
        """The operations to replace, in text order."""
        if isinstance(node, ast.BinOp) and self._matches(node, self.promoted):
            yield node
        else:
            children = [n for n in ast.iter_child_nodes(node) if isinstance(n, (ast.expr, ast.keyword))]
            for child in sorted(children, key=lambda n: n.col_offset):
                yield from self._outermost(child)

    def _matches(self, node: ast.expr, names: Collection[str]) -> bool:
        """Whether a node has the compute dtype: a promoted name, or an operation on such nodes."""
        if isinstance(node, ast.Name):
            return node.id in names
        if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
            return False
        known = self.divides or not isinstance(node.op, ast.Div)
        return known and self._matches(node.left, names) and self._matches(node.right, names)

    def _call(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return node.id
        assert isinstance(node, ast.BinOp)
        left, right = self._call(node.left), self._call(node.right)
        factors = self.factors & {left, right}
        if factors:
            return f"scaled({left}, {right})" if right in factors else f"scaled({right}, {left})"
        return f"{_OPERATORS[type(node.op)]}({left}, {right})"


def _ends_name(data: bytes) -> bool:
    """Whether a following parenthesis would be that of a call."""
    last = data[-1:]
    return last.isalnum() or last in (b"_", b")", b"]")
